import { errorIf, type Finding } from "../report.ts";

/** The cloud has the region; the remedy lists those of the same geography. */
export function checkRegion(region: string, known: readonly string[], key = "region"): Finding[] {
  const geography = `${region.split("-")[0]}-`;
  const near = known.filter((name) => name.startsWith(geography));
  const remedy = `write one of ${(near.length > 0 ? near : known).join(", ")}`;
  return errorIf(!known.includes(region), key, "the cloud has no such region", remedy);
}
