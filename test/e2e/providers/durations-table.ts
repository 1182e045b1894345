import { durations } from "./durations.ts";

/** The durations as a table for the README, the longest first. Minutes. */
export function durationTable(): string {
  const rows = Object.entries(durations)
    .toSorted(([, a], [, b]) => Math.max(b.create, b.delete) - Math.max(a.create, a.delete))
    .map(([type, { create, delete: remove, source }]) => [shortType(type), minutes(create), minutes(remove), source]);
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [["resource", "created in", "deleted in", "source"], ["---", "---", "---", "---"], ...rows]
    .map(line)
    .join("\n");
}

/** `aws:eks/addon:Addon vpc-cni` as `aws:eks:Addon vpc-cni`. */
const shortType = (type: string): string => `\`${type.replace(/\/\w+:/, ":")}\``;

const minutes = (value: number): string => (value < 0.05 ? "1 s" : `${value} min`);
