/** `npm run verify` on real pods: all well, and each of the faults planted here named in its line. */

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { kuberay } from "../../../infra/versions.ts";
import { kuberayVersion } from "../../../tools/parts/control-plane/table.ts";
import { until } from "../../e2e/support/daemon.ts";
import { holds } from "../../e2e/support/report.ts";
import { operatorOutside, verifyStack } from "../../e2e/support/verification.ts";
import { type Kubectl, readyPods, type Subject, tableName, tableServicePods } from "../support.ts";
import { namespace, stackName, token } from "../surroundings.ts";

const verifier = fileURLToPath(new URL("../../../infra/verify/main.ts", import.meta.url));

/** A fault of a running stack. */
interface Fault {
  readonly title: string;
  /** Makes it, and returns how to undo it. */
  readonly plant: () => Promise<() => Promise<unknown>>;
  /** The line that names it. */
  readonly line: RegExp;
  /** In place of the caller's token. */
  readonly token?: string;
}

export async function checkVerification(subject: Subject): Promise<void> {
  const { surroundings, report } = subject;
  const { engine, charts } = surroundings;
  const args = ["--table", tableName];
  await report.check("npm run verify finds no fault", () =>
    verifyStack(engine, stackName, args, token, charts ? [] : [operatorOutside]),
  );
  for (const { title, plant, line, token: other = token } of await faultsOf(subject))
    await report.check(`npm run verify names ${title}`, async () => {
      const undo = await plant();
      try {
        let lines: string[] = [];
        await until(
          "the line",
          async () => {
            const { stdout = "" } = await promisify(execFile)(
              process.execPath,
              [verifier, stackName, "--root", engine.project, ...args],
              { env: { ...engine.env, LAKEHEAD_TOKEN: other }, maxBuffer: 2 ** 24 },
            ).catch((error: { stdout?: string }) => error);
            lines = [...stdout.matchAll(/^WRONG +(.*)$/gm)].map(([, one = ""]) => one);
            return lines.some((one) => line.test(one)) ? true : undefined;
          },
          { seconds: 240, every: 1000 },
        ).catch(() => undefined);
        const named = lines.find((one) => line.test(one));
        holds(named !== undefined, `no line is like ${line.source}; wrong are\n${lines.join("\n")}`);
        return named;
      } finally {
        await undo();
        await readyPods(surroundings, tableServicePods);
      }
    });
}

/** Faults of an operator that is a pod. */
const operatorFaults = (kubectl: Kubectl): readonly Fault[] => {
  const scale = ["-n", "kuberay-system", "scale", "deployment/kuberay-operator"];
  return [
    {
      title: "an operator that is not there",
      plant: async () => {
        await kubectl([...scale, "--replicas=0"]);
        return () => kubectl([...scale, "--replicas=1"]);
      },
      line: /^operator kuberay-system\/kuberay-operator: not available/,
    },
    {
      title: "a second operator",
      plant: async () => {
        const image = `--image=${kuberay.image}:${kuberayVersion}`;
        await kubectl(["-n", "default", "create", "deployment", "second-operator", image, "--replicas=0"]);
        return () => kubectl(["-n", "default", "delete", "deployment", "second-operator"]);
      },
      line: /^operator: more than one/,
    },
  ];
};

async function faultsOf({ surroundings, kubectl }: Subject): Promise<readonly Fault[]> {
  const inNamespace = ["-n", namespace];
  /** Deletes an object and makes it again as it was. */
  const missing =
    (kind: string, name: string, place: readonly string[] = []) =>
    async () => {
      const object = JSON.parse(await kubectl([...place, "get", kind, name, "-o", "json"])) as {
        metadata: Record<string, unknown>;
      };
      const { resourceVersion: _, uid: __, creationTimestamp: ___, ...metadata } = object.metadata;
      await kubectl([...place, "delete", kind, name]);
      return () => kubectl(["create", "-f", "-"], { input: JSON.stringify({ ...object, metadata }) });
    };
  const changed = (change: readonly string[], back: readonly string[]) => async () => {
    await kubectl(change);
    return () => kubectl(back);
  };
  const deployment = "deployment/table-service";
  const rolledBack = async () => {
    await kubectl([...inNamespace, "rollout", "undo", deployment]);
    await kubectl([...inNamespace, "rollout", "status", deployment, "--timeout=400s"]);
  };
  const nodesOf = async (label: string) => {
    const names = (await kubectl(["get", "nodes", "-l", `${label}=true`, "-o", "name"])).trim().split("\n");
    return names.map((name) => name.replace("node/", ""));
  };
  const cpuLabel = "geneva.lancedb.com/ray-worker-cpu";
  const heads = await nodesOf("geneva.lancedb.com/ray-head");
  const cpus = await nodesOf(cpuLabel);
  return [
    {
      title: "a missing role binding",
      plant: missing("clusterrolebinding", "geneva-service-account-binding"),
      line: /^access Ray's pods: may not (get|list|watch|patch|delete) /,
    },
    {
      title: "a permission that the stack does not grant",
      plant: async () => {
        const name = "surplus";
        const subjectOf = `--serviceaccount=${namespace}:geneva-service-account`;
        await kubectl([...inNamespace, "create", "rolebinding", name, "--clusterrole=admin", subjectOf]);
        return () => kubectl([...inNamespace, "delete", "rolebinding", name]);
      },
      line: /^access Ray's pods: may (get|list) secrets in lancedb, which the stack does not grant$/,
    },
    {
      title: "a missing service account",
      plant: missing("serviceaccount", "geneva-service-account", inNamespace),
      line: /^account lancedb\/geneva-service-account: it does not exist/,
    },
    {
      title: "a cordoned head node",
      plant: changed(["cordon", ...heads], ["uncordon", ...heads]),
      line: /^nodes ray-head: .*cordoned/,
    },
    {
      title: "a role without a node",
      plant: changed(["label", "nodes", ...cpus, `${cpuLabel}-`], ["label", "nodes", ...cpus, `${cpuLabel}=true`]),
      line: /^nodes ray-worker-cpu: no node has the label/,
    },
    ...(surroundings.charts ? operatorFaults(kubectl) : []),
    {
      title: "an image that cannot be had",
      plant: async () => {
        await kubectl([...inNamespace, "set", "image", deployment, "table-service=lakehead:none"]);
        return rolledBack;
      },
      line: /^table service: 0 of 1 pods available \(table-service-[\w-]+: (ErrImagePull|ImagePullBackOff)/,
    },
    {
      title: "a closed port",
      plant: async () => {
        await kubectl([...inNamespace, "set", "env", deployment, "LAKEHEAD_OPERATIONS_PORT=9999"]);
        return rolledBack;
      },
      line: /^table service: no response on its operations port/,
    },
    {
      title: "a token that is not valid",
      plant: async () => async () => undefined,
      line: /^table service: statistics of "nodes": 401/,
      token: "0".repeat(48),
    },
    ...(surroundings.own === undefined
      ? []
      : [
          {
            title: "a full disk",
            plant: async () => {
              const file = "/data/filler";
              const fill = `const file = fs.openSync("${file}", "w"); try { for (;;) fs.writeSync(file, Buffer.alloc(2 ** 20)); } catch {}`;
              await kubectl([...inNamespace, "exec", deployment, "--", "node", "-e", fill]);
              return () => kubectl([...inNamespace, "exec", deployment, "--", "node", "-e", `fs.rmSync("${file}")`]);
            },
            line: /^tables \/data: the table service's pod .*full/,
          },
        ]),
  ];
}
