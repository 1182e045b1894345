import type { ClientParameters } from "./client-parameters.ts";

/**
 * The parameters as Python for the runtime's client: imports and one `with` statement, complete as printed.
 * `ray_cluster` and the two specs are what the runtime's documentation imports.
 */
export function clientSnippet(parameters: ClientParameters): string {
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
  ];
  return [
    "import ray",
    "from geneva.cluster import K8sConfigMethod",
    "from geneva.runners.ray._mgr import ray_cluster",
    "from geneva.runners.ray.raycluster import _HeadGroupSpec, _WorkerGroupSpec",
    "",
    "# One name for each user: leaving the block deletes the cluster.",
    "with ray_cluster(",
    ...keywords.map(([name, value]) => `    ${name}=${value},`),
    "):",
    "    print(ray.cluster_resources())",
    "",
  ].join("\n");
}

function call(name: string, fields: Readonly<Record<string, unknown>>, depth: number): string {
  const indent = "    ".repeat(depth + 1);
  const lines = Object.entries(fields).map(([key, value]) => `${indent}${key}=${literal(value)},\n`);
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
