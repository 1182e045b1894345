/** What a user writes in place of the examples' placeholders, which the program refuses on a real engine. */
const own: readonly (readonly [placeholder: RegExp, value: string])[] = [
  [/111122223333|444455556666/g, "210987654321"],
  [/Z0EXAMPLELAKEHEAD/g, "Z0E2ELAKEHEAD"],
  [/example-lakehead/g, "e2e-lakehead"],
  [/\bexample\.com\b/g, "lakehead.dev"],
  [/\b203\.0\.113\.(\d+)/g, "8.8.8.$1"],
];

export const withoutPlaceholders = (text: string): string =>
  own.reduce((rest, [placeholder, value]) => rest.replace(placeholder, value), text);
