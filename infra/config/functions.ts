import { z } from "zod";
import { cidr, count, cpus, flag, group, httpsUrl, memory, prefix } from "./fields.ts";
import { rayPods } from "./ray.ts";

/** A folder below the tables, and not the service's own records. */
const folder = prefix.refine((text) => text !== "" && !/^_lakehead(\/|$)/.test(text), {
  error: "a folder of tables, such as docs.lance; _lakehead has the service's own records",
});

/** A name and the namespaces that it is in; `$` divides them. */
const secretName = z
  .string()
  .max(200, { error: "at most 200 characters" })
  .regex(/^[\w-]+([.$][\w-]+)*$/, {
    error: "letters, digits, _, - and inner dots, such as openai, or team$openai in the namespace team",
  });

export const functionsSchema = group("Columns that Python code of callers fills", {
  enabled: flag(
    false,
    "Serve Functions, and run them: the Python code of callers with the scope `functions`. Needs `tableService.writes`, and tables in a bucket; see docs/functions.md",
  ),
  cluster: z
    .enum(["own", "shared"])
    .default("own")
    .describe(
      "`own`: a RayCluster for Functions alone, whose identity reaches only `prefixes`; `shared`: the stack's RayCluster (`ray.create`) with the identity of its pods, for a team that trusts each other",
    ),
  prefixes: z
    .array(folder)
    .default([])
    .describe(
      "Folders below the tables' prefix that Functions of an `own` cluster reach, such as docs.lance; empty for all of it",
    ),
  egressCidrs: z
    .array(cidr)
    .default([])
    .describe(
      "Networks beside public addresses that an `own` cluster reaches, on the ports of store and package index: where one of them has a private address",
    ),
  packageIndex: httpsUrl.optional().describe("Index from which Functions' packages are installed; default: PyPI"),
  secrets: z
    .array(secretName)
    .refine((names) => new Set(names).size === names.length, { error: "each name once" })
    .default([])
    .describe(
      "Names of secrets that Functions of an `own` cluster can name, such as team$openai; their values are in the secret `functionSecrets`. Every Function can read every one",
    ),
  runners: count(1, 16).default(1).describe("Refreshes at a time, each by a pod that hands the work to Ray"),
  uploadGigabytes: count(0, 10_000)
    .default(0)
    .describe(
      "Largest upload in parts that a runner commits where it is too large for one write of the service, in GB; 0: none. See docs/writes.md",
    ),
  workers: count(1, 1000).default(4).describe("Maximum number of Ray's workers for one refresh, with one CPU each"),
  cpus: cpus.default(0.5).describe("CPUs of a pod that hands the work to Ray, as request"),
  memory: memory.default("2Gi").describe("Memory of such a pod, as request and limit"),
  ray: group(
    "The pods of an `own` cluster; version, image and tokens are those of `ray`",
    rayPods({ cpus: 1, memory: "4Gi", ephemeralStorage: "10Gi" }),
  ),
});

interface Serving {
  readonly tableService: {
    readonly enabled: boolean;
    readonly functions: { readonly enabled: boolean; readonly cluster: "own" | "shared" };
  };
}

/** Whether the stack runs Functions. */
export const runsFunctions = ({ tableService }: Serving): boolean =>
  tableService.enabled && tableService.functions.enabled;

/** Whether the stack has a RayCluster for Functions alone. */
export const ownsFunctionsCluster = (config: Serving): boolean =>
  runsFunctions(config) && config.tableService.functions.cluster === "own";
