/** The requests to Google against the discovery documents of its client library. */

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  accountRequest,
  nameRequests,
  networkRequests,
  requests,
  zoneRequest,
} from "../../infra/clouds/gcp/preflight/preflight.ts";
import { knownMetrics } from "../../infra/clouds/gcp/preflight/quotas.ts";
import type { Check } from "./setup.ts";

const run = promisify(execFile);
const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

interface Discovery {
  readonly methods: Readonly<Record<string, { readonly method: string; readonly url: string }>>;
  readonly metrics: readonly string[];
}

export async function checkGoogle(check: Check, python: string): Promise<void> {
  const zone = { project: "dns-host", name: "some-zone" };
  const sent = Object.entries({
    ...requests({ project: "some-project", region: "europe-west4" }),
    ...nameRequests({ project: "some-project", region: "europe-west4", clusterName: "lake", bucket: { name: "b" } }),
    ...networkRequests(
      { project: "some-project", region: "europe-west4" },
      "projects/host/regions/europe-west4/subnetworks/nodes",
    ),
    ...zoneRequest(zone),
    ...accountRequest("pipelines@some-project.iam.gserviceaccount.com"),
  });
  const { stdout } = await run(python, [here("discovery.py"), ...sent.map(([name]) => name)], { maxBuffer: 2 ** 24 });
  const { methods, metrics } = JSON.parse(stdout) as Discovery;
  for (const [name, { method, url }] of sent)
    await check(`the discovery document has the request ${name}`, async () => {
      const known = methods[name];
      const pattern = (known?.url ?? "").replaceAll(/[.?]/g, "\\$&").replaceAll(/\{\w+\}/g, "[^/]+");
      const [address = ""] = url.split("?");
      return known?.method === method && new RegExp(`^${pattern}$`).test(address)
        ? undefined
        : `${method} ${address} is not ${JSON.stringify(known)}`;
    });
  await check("Compute Engine has every quota metric that is asked for", async () => {
    const missing = knownMetrics.filter((metric) => !metrics.includes(metric));
    return missing.length === 0 && metrics.length > 100 ? undefined : missing.join(", ");
  });
}
