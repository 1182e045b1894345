/** Text as the value of a Google Cloud label: lower case, with an underscore for each invalid character. */
export function labelValue(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, "_")
    .slice(0, 63);
}
