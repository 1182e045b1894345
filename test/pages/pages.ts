/** Pages of those who use the service, which need npm alone. Blocks of Python need Python 3. */
export const servicePages: readonly string[] = [
  "README.md",
  "docs/api.md",
  "docs/writes.md",
  "docs/plan-doctor.md",
  "docs/maintenance.md",
];
