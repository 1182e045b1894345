/** The part of a blob that a request asks for. `all`: no `Range`, or one that HTTP lets a server ignore. */
export type WantedRange =
  | { readonly kind: "all" }
  | { readonly kind: "from"; readonly first: number; readonly last: number }
  | { readonly kind: "last"; readonly bytes: number };

/** A part of a blob: bytes from `start` up to but without `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

const all: WantedRange = { kind: "all" };

const numberOf = (digits: string): number => Math.min(Number(digits), Number.MAX_SAFE_INTEGER);

/** Reads a `Range` of one range of bytes. Several, other units and malformed ones are ignored (RFC 9110, 14.2). */
export const readRange = (header: string | undefined): WantedRange => {
  const [, first = "", last = ""] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header ?? "") ?? [];
  if (first === "") return last === "" ? all : { kind: "last", bytes: numberOf(last) };
  if (last === "") return { kind: "from", first: numberOf(first), last: Number.MAX_SAFE_INTEGER };
  return numberOf(last) < numberOf(first) ? all : { kind: "from", first: numberOf(first), last: numberOf(last) };
};

/** The range within so many bytes; undefined if it has none of them. */
export const resolveRange = (wanted: WantedRange, size: number): ByteRange | undefined => {
  if (wanted.kind === "all") return { start: 0, end: size };
  const start = wanted.kind === "from" ? wanted.first : Math.max(0, size - wanted.bytes);
  const end = wanted.kind === "from" ? Math.min(size, wanted.last + 1) : size;
  return start < end ? { start, end } : undefined;
};
