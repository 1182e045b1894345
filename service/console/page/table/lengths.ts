import type { Statistics } from "../../../query/answers.ts";

/** A bar of the histogram: fragments with `from` to `to` rows. */
export interface LengthBar {
  readonly from: number;
  readonly to: number;
  /** Of all fragments, 0 to 1. */
  readonly share: number;
}

const quantiles = [
  ["min", "p25", 0.25],
  ["p25", "p50", 0.25],
  ["p50", "p75", 0.25],
  ["p75", "p99", 0.24],
  ["p99", "max", 0.01],
] as const;

/** The histogram that the quantiles of the lengths permit. Bars of the same lengths are one. */
export const lengthBars = (lengths: Statistics["fragment_stats"]["lengths"]): readonly LengthBar[] => {
  const bars: LengthBar[] = [];
  for (const [low, high, share] of quantiles) {
    const last = bars.at(-1);
    const [from, to] = [lengths[low], lengths[high]];
    if (last !== undefined && last.from === from && last.to === to)
      bars[bars.length - 1] = { from, to, share: last.share + share };
    else bars.push({ from, to, share });
  }
  return bars;
};
