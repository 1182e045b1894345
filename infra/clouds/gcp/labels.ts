/** Text as the value of a Google Cloud label takes it: lower case, and an underscore for what else it may not hold. */
export function labelValue(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, "_")
    .slice(0, 63);
}
