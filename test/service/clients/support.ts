export type Fields = Readonly<Record<string, unknown>>;

/** 2^63-1 as `JSON.parse` leaves it and `JSON.stringify` never writes it: 2^63. */
export const noLimit = 2 ** 63;

/** A measured plan without what differs between two runs of one query: only nodes and their rows stay. */
export const withoutTimes = (plan: unknown): string =>
  String(plan)
    .replaceAll(/elapsed=[^,]+, /g, "")
    .replaceAll(/metrics=\[(?:output_rows=([^,\]]+))?[^\]]*\]/g, "rows=$1")
    .replaceAll(/filter=\[[^\]]*\], /g, "");
