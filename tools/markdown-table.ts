/** The repository's only writer of Markdown tables. */

export type Alignment = "left" | "right";

/** A cell's text may hold neither the column separator nor a line break. */
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/g, " ");

/** One row, without a line break at its end: for tables that are printed while they are measured. */
export const markdownRow = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;

/**
 * The two lines above the rows, without a line break at their end.
 * @param align by column; the last one holds for all further columns.
 */
export const markdownHead = (titles: readonly string[], align: readonly Alignment[] = ["left"]): string =>
  [
    markdownRow(titles),
    markdownRow(titles.map((_, index) => ((align[index] ?? align.at(-1)) === "right" ? "--:" : "---"))),
  ].join("\n");

/** A table as GitHub renders it, without a line break at its end. */
export const markdownTable = (
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  align?: readonly Alignment[],
): string => [markdownHead(titles, align), ...rows.map(markdownRow)].join("\n");

/** Inline code; nothing for an empty text. */
export const inlineCode = (text: string): string => (text === "" ? "" : `\`${text}\``);
