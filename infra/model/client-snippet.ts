import { environment } from "../../service/contract.ts";
import { catalogConnection } from "./catalog.ts";
import type { ClientIdentity, ClientParameters } from "./client-parameters.ts";
import { podPackages } from "./client-requirements.ts";
import { jobLabels } from "./names.ts";

/**
 * A complete Python program for the runtime's client: it connects to the stack's database, creates a cluster, fills one
 * column of a sample table there and reads it back. `ray_cluster` and the two specs are what the runtime's documentation
 * imports for EKS: the newer builder cannot name the EKS cluster.
 * @param catalogUri the table service's address in the cluster, where it opens the tables
 */
export function clientSnippet(
  parameters: ClientParameters,
  { database }: Pick<ClientIdentity, "database">,
  catalogUri?: string,
): string {
  const { head_group, worker_groups, config_method, ...scalars } = parameters;
  const keywords: readonly (readonly [string, string])[] = [
    ["name", literal(scalars.name)],
    ["namespace", literal(scalars.namespace)],
    ["cluster_name", literal(scalars.cluster_name)],
    ["config_method", `K8sConfigMethod.${config_method}`],
    ...(scalars.region === undefined ? [] : [["region", literal(scalars.region)] as const]),
    ["use_portforwarding", literal(scalars.use_portforwarding)],
    ["head_group", call("_HeadGroupSpec", head_group, 1)],
    [
      "worker_groups",
      `[\n${worker_groups.map((group) => `        ${call("_WorkerGroupSpec", group, 2)},\n`).join("")}    ]`,
    ],
    ...(scalars.role_name === undefined ? [] : [["role_name", literal(scalars.role_name)] as const]),
    ["manifest", "packages"],
  ];
  return `import getpass
${database.secretStorageOptions ? "import json\n" : ""}import os${catalogUri === undefined ? "" : "\nimport sys"}

# Ray reads this when it is imported. With it unset, Ray Client cannot send its environment to the pods.
os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")

import geneva
import pyarrow as pa
from geneva.cluster import K8sConfigMethod
from geneva.manifest.mgr import GenevaManifest
from geneva.runners.ray._mgr import ray_cluster
from geneva.runners.ray.raycluster import _HeadGroupSpec, _WorkerGroupSpec

${catalogUri === undefined ? connection(database) : catalogConnection(catalogUri)}
# What the pods install beside geneva. Add your packages here, and modules of your own as py_modules=[...].
packages = GenevaManifest(name=${literal(scalars.name)}, pip=${literal(podPackages)})


@geneva.udf
def doubled(n: int) -> int:
    return 2 * n


table = database.create_table("geneva_sample", pa.table({"n": range(100)}), mode="overwrite")
table.add_columns({"doubled": doubled})

# Labels of every pod of the job, by which its costs and logs are found.
job = {
    ${literal(jobLabels.owner)}: getpass.getuser(),
    ${literal(jobLabels.job)}: "sample",
    ${literal(jobLabels.table)}: "geneva_sample",
}
# One name for each user: leaving the block deletes the cluster.
with ray_cluster(
${keywords.map(([name, value]) => `    ${name}=${value},`).join("\n")}
):
    table.backfill("doubled", concurrency=1)

table.checkout_latest()
rows = table.to_arrow().to_pylist()
assert all(row["doubled"] == 2 * row["n"] for row in rows), rows
print(f"{len(rows)} rows computed on the cluster, such as {rows[-1]}")
`;
}

function connection({ uri, storageOptions, secretStorageOptions }: ClientIdentity["database"]): string {
  const hasOptions = Object.keys(storageOptions).length > 0;
  const options = secretStorageOptions
    ? hasOptions
      ? `{**${literal(storageOptions)}, **keys}`
      : "keys"
    : hasOptions
      ? literal(storageOptions)
      : undefined;
  const open = `database = geneva.connect(${literal(uri)}${options === undefined ? "" : `, storage_options=${options}`})`;
  if (!secretStorageOptions) return open;
  return `# The object store's keys. The output clientCredentials sets the variable, and the client sends them to the pods.
keys = json.loads(os.environ[${literal(environment.storageOptions)}])
${open}`;
}

function call(name: string, fields: Readonly<Record<string, unknown>>, depth: number): string {
  const indent = "    ".repeat(depth + 1);
  const lines = Object.entries(fields).map(
    ([key, value]) => `${indent}${key}=${key === "labels" ? `{**${literal(value)}, **job}` : literal(value)},\n`,
  );
  return `${name}(\n${lines.join("")}${"    ".repeat(depth)})`;
}

/** A JSON value as a Python literal. Only the names of three constants differ between the two. */
export function literal(value: unknown): string {
  if (value === true) return "True";
  if (value === false) return "False";
  if (value === null || value === undefined) return "None";
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value === "object") {
    return `{${Object.entries(value)
      .map(([key, entry]) => `${literal(key)}: ${literal(entry)}`)
      .join(", ")}}`;
  }
  return JSON.stringify(value);
}
