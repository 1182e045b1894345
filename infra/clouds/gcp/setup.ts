/** Finds out on Google Cloud what a stack's file must say. It only reads. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { attempt, type Outcome, ok, unknown, wrong } from "../../check-line.ts";
import { clusterModel } from "../schema.ts";
import { type Answers, bootstrapFields, type CloudSetup, listOf, tokenFields, tokenKeys } from "../setup.ts";
import { quotaLines, readToken, requests, send } from "./preflight/preflight.ts";

const run = promisify(execFile);

const setting = (name: string): Promise<Outcome<string>> =>
  attempt(async () => {
    const { stdout } = await run("gcloud", ["config", "get-value", name, "--quiet"], { timeout: 30_000 });
    const value = stdout.trim();
    if (value === "" || value === "(unset)") throw new Error(`gcloud has no ${name}`);
    return value;
  });

async function readZones(project: string, region: string): Promise<Outcome<string>> {
  const token = await readToken();
  if ("failure" in token) return token;
  const found = await send<{ zones?: string[] }>(token.value, requests({ project, region })["compute.v1 regions.get"]);
  if ("failure" in found) return found;
  const zones = (found.value.zones ?? []).map((url) => url.split("/").at(-1) ?? "").sort();
  return zones.length < 2 ? { failure: `${region} has ${zones.length} zones` } : { value: zones.slice(0, 2).join(",") };
}

async function look(stack: string, { project = "", region = "" }: Answers) {
  const [account, zones] = await Promise.all([setting("account"), readZones(project, region)]);
  const kind = "value" in account && account.value.endsWith(".gserviceaccount.com") ? "serviceAccount" : "user";
  return {
    lines: [
      "value" in account
        ? ok(`caller: ${account.value}`)
        : wrong(`caller: ${account.failure}`, "gcloud auth login, and gcloud auth application-default login"),
      "value" in zones
        ? ok(`zones: ${zones.value}`)
        : unknown(`zones: ${zones.failure.trim().split("\n").at(-1)}`, `--zones ${region}-a,${region}-b`),
    ],
    found: {
      bucket: `${project}-${stack}-tables`,
      "state-bucket": `${project}-state`,
      ...("value" in account ? { members: `${kind}:${account.value}` } : {}),
      ...("value" in zones ? { zones: zones.value } : {}),
    },
  };
}

export const gcpSetup: CloudSetup = {
  place: [
    { option: "project", question: "Google Cloud project", key: "project", asked: true },
    { option: "region", question: "Region", key: "region", asked: true },
  ],
  fields: [
    { option: "zones", question: "Two zones of the region", key: "nodes", asked: false },
    { option: "bucket", question: "Bucket for the tables", key: "bucket.name", asked: true },
    {
      option: "members",
      question: "IAM members that deploy first, and that use Geneva's client",
      key: "client.members",
      asked: true,
    },
    ...tokenFields,
    ...bootstrapFields,
  ],
  here: async () => {
    const [project, region] = await Promise.all([setting("project"), setting("compute/region")]);
    return {
      ...("value" in project ? { project: project.value } : {}),
      ...("value" in region ? { region: region.value } : {}),
    };
  },
  look,
  stackKeys: (_, answers) => {
    const { project, region, zones = "", bucket, members = "" } = answers;
    const [first, second] = listOf(zones);
    return {
      project,
      region,
      // One zone each, so that a minimum of 1 means one node and not one in each zone.
      "nodes.system.zones": [first],
      "nodes.head.zones": [first],
      // GPUs are not in every zone of a region.
      "nodes.gpu.zones": [first, second],
      "bucket.name": bucket,
      "client.members": listOf(members),
      ...tokenKeys(answers),
    };
  },
  bootstrapKeys: (_, answers) => ({
    project: answers.project,
    region: answers.region,
    "bucket.name": answers["state-bucket"],
    deployers: listOf(answers.members ?? ""),
  }),
  quotas: async (config) => (config.cloud === "gcp" ? quotaLines(config, clusterModel(config)) : []),
};
