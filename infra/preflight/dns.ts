import { resolve4, resolveNs } from "node:dns/promises";
import { attempt, type Outcome } from "../check-line.ts";
import type { DnsFacts } from "./checks.ts";

/** No records, by the codes of c-ares. Any other error says nothing about the name. */
async function records(read: () => Promise<string[]>): Promise<string[]> {
  try {
    return await read();
  } catch (error) {
    if (["ENOTFOUND", "ENODATA"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  }
}

/** The host's addresses, or the closest parent domain with name servers below the top-level domain. */
export function readDns(host: string): Promise<Outcome<DnsFacts>> {
  return attempt(async () => {
    const addresses = await records(() => resolve4(host));
    const labels = host.split(".");
    const parents = labels.slice(0, -1).map((_, index) => labels.slice(index).join("."));
    for (const zone of addresses.length > 0 ? [] : parents)
      if ((await records(() => resolveNs(zone))).length > 0) return { addresses, zone };
    return { addresses, zone: undefined };
  });
}
