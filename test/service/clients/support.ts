export type Fields = Readonly<Record<string, unknown>>;

/** 2^63-1 as `JSON.parse` leaves it and `JSON.stringify` never writes it: 2^63. */
export const noLimit = 2 ** 63;

/** The nodes of a measured plan and their rows, without metrics that differ between two runs. */
export const withoutTimes = (plan: unknown): string =>
  String(plan)
    .replaceAll(/elapsed=[^,]+, /g, "")
    .replaceAll(/metrics=\[(?:output_rows=([^,\]]+))?[^\]]*\]/g, "rows=$1")
    .replaceAll(/filter=\[[^\]]*\], /g, "");
