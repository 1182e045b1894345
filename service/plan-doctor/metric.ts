import type { Metric } from "./types.ts";

const nanoseconds: Readonly<Record<string, number>> = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 };
const thousands: Readonly<Record<string, number>> = { K: 1e3, M: 1e6, B: 1e9, T: 1e12 };
const sizes: Readonly<Record<string, number>> = { B: 1, KB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30, TB: 2 ** 40 };

/**
 * DataFusion's own metrics print sizes (`124.0 B` is 124 bytes); Lance prints its bytes as counts (`bytes_read=1.25 B` is
 * 1,250,000,000).
 */
const printsSize = /^(?:output_bytes|spilled_bytes)$|mem_used/;

const holdsBytes = /^bytes_|_bytes$|mem_used/;

/** A product of decimal digits and a power of ten or two; at most 15 digits, so that the last one is not an artefact. */
const times = (digits: string, factor: number): number => Number((Number(digits) * factor).toPrecision(15));

/** Nanoseconds of a duration as the engine prints it; undefined for another form. */
export const durationOf = (text: string): number | undefined => {
  const match = /^(\d+(?:\.\d+)?)(ns|µs|ms|s)$/.exec(text);
  const factor = nanoseconds[match?.[2] ?? ""];
  return match?.[1] === undefined || factor === undefined ? undefined : times(match[1], factor);
};

interface Count {
  readonly value: number;
  readonly rounded: boolean;
}

const countOf = (text: string): Count | undefined => {
  const match = /^(\d+(?:\.\d+)?)(?: ([KMBT]))?$/.exec(text);
  if (match?.[1] === undefined) return undefined;
  const factor = match[2] === undefined ? 1 : thousands[match[2]];
  return factor === undefined ? undefined : { value: times(match[1], factor), rounded: factor > 1 };
};

const sizeOf = (name: string, text: string): Count | undefined => {
  const match = /^(\d+(?:\.\d+)?) ([KMGT]?B)$/.exec(text);
  if (match?.[1] === undefined || (match[2] === "B" && !printsSize.test(name))) return undefined;
  const factor = sizes[match[2] ?? ""];
  return factor === undefined ? undefined : { value: times(match[1], factor), rounded: factor > 1 };
};

const ratioOf = (text: string): Pick<Metric, "value" | "unit" | "rounded" | "of"> | undefined => {
  const match = /^(?:[\d.]+%|N\/A) \((.+)\/(.+)\)$/.exec(text);
  const [kept, seen] = [countOf(match?.[1] ?? ""), countOf(match?.[2] ?? "")];
  if (kept === undefined || seen === undefined) return undefined;
  return {
    value: seen.value === 0 ? null : kept.value / seen.value,
    unit: "ratio",
    rounded: kept.rounded || seen.rounded,
    of: [kept.value, seen.value],
  };
};

/** Reads one metric of a node; the text of a form that is not known is kept with the unit `text`. */
export const parseMetric = (name: string, text: string): Metric => {
  const duration = durationOf(text);
  // A metric has two decimals; the time of a node has all its digits.
  if (duration !== undefined) return { name, text, value: duration, unit: "ns", rounded: !text.endsWith("ns") };
  const size = sizeOf(name, text);
  if (size !== undefined) return { name, text, ...size, unit: "bytes" };
  const count = countOf(text);
  if (count !== undefined) return { name, text, ...count, unit: holdsBytes.test(name) ? "bytes" : "count" };
  return { name, text, ...(ratioOf(text) ?? { value: null, unit: "text", rounded: false }) };
};
