/**
 * Geneva's client on the stack's nodes, with nothing but what the stack outputs: requirements, credentials and program. Its
 * licence is its own: it is installed from its package and called, and nothing of it is here.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { clientRequirements } from "../../../infra/model/client-requirements.ts";
import { ray } from "../../../infra/versions.ts";
import { until } from "../../e2e/support/daemon.ts";
import { holds } from "../../e2e/support/report.ts";
import { findUv, installClient } from "../../geneva-client/install.ts";
import type { Store } from "../cluster/object-store.ts";
import { askFrom, caller, expectStatus, podsOf, type Subject, serviceName } from "../support.ts";
import { configured, namespace } from "../surroundings.ts";

/** Installs the client of the default versions into the cache: the namespaces have no way to PyPI. */
export async function prepareGeneva(log: (line: string) => void): Promise<void> {
  const { uv } = await findUv(log);
  const settings = { version: ray.default, image: { repository: ray.image, python: ray.python } };
  if (uv !== undefined) await installClient(uv, clientRequirements(settings, {}), log);
}

/** The RayCluster of the emitted program. */
const cluster = "geneva-client";
const sampleRows = 100;
/** Seconds for the whole program, on a busy machine. */
const timeoutSeconds = 1200;

interface Outputs {
  readonly clientRequirements: string;
  readonly clientCredentials: string;
  readonly clientSnippet: string;
}

export async function checkGeneva(subject: Subject, store: Store): Promise<void> {
  const { surroundings, stack, report } = subject;
  const moved = await report.check("pulumi up moves the tables to an object store", async () => {
    const { uri, storageOptions } = store;
    await stack.configure(configured(surroundings, { "lakehead:database": { uri, storageOptions } }));
    await stack.setSecret("lakehead:storageOptions", JSON.stringify(store.secretOptions));
    const { seconds } = await stack.up();
    return `${seconds.toFixed(0)} s`;
  });
  if (!moved) return;
  const outputs = (await stack.outputs()) as unknown as Outputs;
  const { uv, missing: withoutUv } = await findUv(report.log);
  const { python, missing } =
    uv === undefined ? { missing: withoutUv } : await installClient(uv, outputs.clientRequirements, report.log);
  if (python === undefined) return report.skip("geneva", `the client cannot be installed: ${missing}`);
  await report.check("the client runs the stack's program on a RayCluster that it makes and deletes", async () => {
    const { code, output, pods } = await runProgram(subject, python, outputs);
    holds(code === 0, `it ended with ${code}:\n${lastLines(output)}`);
    holds(output.includes(`${sampleRows} rows computed on the cluster`), `it read no result:\n${lastLines(output)}`);
    await until(
      "the end of the client's pods",
      async () => ((await clientPods(subject)).length === 0 ? true : undefined),
      { seconds: 400 },
    );
    const metadata = { name: cluster, namespace };
    const left = await surroundings.api.get({ apiVersion: "ray.io/v1", kind: "RayCluster", metadata });
    holds(left === undefined, "its RayCluster is still there");
    return pods.join(", ");
  });
  await report.check("the table service counts what the job computed", async () => {
    const url = `http://${serviceName}/v1/table/geneva_sample/count_rows`;
    const answer = await askFrom(subject, caller, { url, body: { predicate: "doubled = 2 * n" } });
    expectStatus(answer, 200, "count_rows");
    holds(answer.body === String(sampleRows), `${answer.body} of ${sampleRows} rows`);
    return `${answer.body} rows`;
  });
}

const clientPods = ({ surroundings }: Subject) => podsOf(surroundings, `ray.io/cluster=${cluster}`);

const lastLines = (output: string): string => output.trim().split("\n").slice(-30).join("\n");

/** Runs the program in a shell that the emitted credentials have set up, and notes the pods that run meanwhile. */
async function runProgram(subject: Subject, python: string, { clientCredentials, clientSnippet }: Outputs) {
  const { engine } = subject.stack;
  const folder = await mkdtemp(join(tmpdir(), "lakehead-geneva-"));
  const program = join(folder, "first.py");
  await writeFile(program, clientSnippet);
  // npx would look for a package: the engine's CLI is on PATH.
  const credentials = clientCredentials.replaceAll("npx pulumi", "pulumi");
  const child = spawn(
    "bash",
    ["-euc", `${credentials}\nexec timeout ${timeoutSeconds} "${python}" "${program}" 2>&1`],
    {
      cwd: engine.project,
      env: { ...engine.env, HOME: folder, KUBECONFIG: subject.surroundings.kubeconfig },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const places = new Map<string, string>();
  const watch = setInterval(async () => {
    for (const { metadata, spec, status } of await clientPods(subject).catch(() => []))
      if (status.phase === "Running")
        places.set(metadata.name, `${metadata.labels?.["ray.io/group"]} on ${spec.nodeName}`);
  }, 2000);
  try {
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
    return { code: code as number | null, output, pods: [...places.values()].sort() };
  } finally {
    clearInterval(watch);
    await rm(folder, { recursive: true, force: true });
  }
}
