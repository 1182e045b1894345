import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ports } from "../../service/contract.ts";
import type { KubernetesObject } from "../e2e/support/api.ts";
import { until } from "../e2e/support/daemon.ts";
import type { Stack } from "../e2e/support/engine.ts";
import type { Report } from "../e2e/support/report.ts";
import { holds } from "../e2e/support/report.ts";
import { namespace, type Surroundings, token } from "./surroundings.ts";

const exec = promisify(execFile);

/** What every subject gets. */
export interface Subject {
  readonly surroundings: Surroundings;
  readonly stack: Stack;
  /** What the cluster had before the stack. */
  readonly before: readonly string[];
  readonly report: Report;
  readonly kubectl: Kubectl;
}

export type Kubectl = (args: readonly string[], options?: { readonly input?: string }) => Promise<string>;

/** Runs kubectl with the administrator's rights. @throws Error with its standard error */
export const kubectlOf =
  ({ kubeconfig }: Surroundings): Kubectl =>
  async (args, { input } = {}) => {
    const running = exec("kubectl", ["--kubeconfig", kubeconfig, ...args], { maxBuffer: 2 ** 26 });
    running.child.stdin?.end(input);
    return (await running).stdout;
  };

/** Labels of the table service's pods. */
export const tableServicePods = "app.kubernetes.io/name=table-service";
export const serviceName = `table-service.${namespace}.svc.cluster.local`;

export const podsOf = async ({ api }: Surroundings, selector: string): Promise<KubernetesObject[]> =>
  (await api.list("v1", "Pod", namespace, selector)).filter(({ metadata }) => metadata.deletionTimestamp === undefined);

const isReady = ({ status }: KubernetesObject): boolean =>
  status?.conditions?.some((one: { type: string; status: string }) => one.type === "Ready" && one.status === "True") ??
  false;

/** Waits until exactly `count` pods of a selector are there and all of them ready. */
export const readyPods = (
  surroundings: Surroundings,
  selector: string,
  { count = 1, seconds = 400 }: { count?: number; seconds?: number } = {},
): Promise<readonly [KubernetesObject, ...KubernetesObject[]]> =>
  until(
    `${count} ready pods of ${selector}`,
    async () => {
      const pods = await podsOf(surroundings, selector);
      const [first, ...more] = pods;
      return pods.length === count && first !== undefined && pods.every(isReady)
        ? ([first, ...more] as const)
        : undefined;
    },
    { seconds, every: 500 },
  );

/** How often a pod's container has been restarted, and why the last time. */
export function restarts(pod: KubernetesObject | undefined, container: string): { count: number; reason: string } {
  const status = pod?.status?.containerStatuses?.find(({ name }: { name: string }) => name === container);
  return { count: status?.restartCount ?? 0, reason: status?.lastState?.terminated?.reason ?? "" };
}

/** The node of the suite's own cluster that has the callers. */
export const callersNode = "system-1";

/** A pod that asks: Node in the table service's image. */
export async function callerPod(
  { kubectl, surroundings }: Pick<Subject, "kubectl" | "surroundings">,
  place: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<void> {
  const limits = { cpu: "1", memory: "256Mi" };
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: place, labels },
    spec: {
      // On a node that no check drains.
      ...(surroundings.own === undefined ? {} : { nodeSelector: { "kubernetes.io/hostname": callersNode } }),
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          name: "caller",
          image: "lakehead:0.2.0",
          command: ["node", "-e", "require('node:http').createServer((_, answer) => answer.end('ok')).listen(8080)"],
          resources: { requests: { cpu: "10m", memory: "64Mi" }, limits },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
        },
      ],
    },
  };
  await kubectl(["apply", "-f", "-"], { input: JSON.stringify(pod) });
  await kubectl(["-n", place, "wait", "--for=condition=Ready", `pod/${name}`, "--timeout=300s"]);
}

/** The namespace of callers that do not belong to the stack. */
export const elsewhere = "callers";
/** The namespace of callers that may read metrics. */
export const metricsReaders = "metrics";

/** Makes the namespace of callers and one caller in it. */
export async function openElsewhere(subject: Pick<Subject, "kubectl" | "surroundings">): Promise<void> {
  const object = { apiVersion: "v1", kind: "Namespace", metadata: { name: elsewhere } };
  await subject.kubectl(["apply", "-f", "-"], { input: JSON.stringify(object) });
  await callerPod(subject, elsewhere, "caller");
}

/** Deletes the callers, also those of the stack's namespaces. */
export async function closeElsewhere({ kubectl }: Pick<Subject, "kubectl">): Promise<void> {
  await kubectl(["delete", "namespace", elsewhere, metricsReaders, "--ignore-not-found"]);
}

export interface Answer {
  /** 0 where there was no answer. */
  readonly status: number;
  /** The body, or why there was no answer. */
  readonly body: string;
}

export interface Request {
  readonly url: string;
  readonly body?: unknown;
  /** Bearer token; none with an empty one. */
  readonly token?: string;
  /** Seconds until the caller gives up. */
  readonly seconds?: number;
}

const askProgram = `
const { url, body, token, seconds } = JSON.parse(process.argv[1]);
const headers = { "content-type": "application/json", ...(token ? { authorization: "Bearer " + token } : {}) };
const init = { headers, signal: AbortSignal.timeout(seconds * 1000) };
try {
  const response = await fetch(url, body === undefined ? init : { ...init, method: "POST", body: JSON.stringify(body) });
  console.log(JSON.stringify({ status: response.status, body: await response.text() }));
} catch (error) {
  console.log(JSON.stringify({ status: 0, body: String(error.cause?.code ?? error.name) }));
}`;

/** Sends a request from inside a pod. */
export async function askFrom(
  { kubectl }: Pick<Subject, "kubectl">,
  [place, pod]: readonly [string, string],
  { url, body, token: bearer = token, seconds = 60 }: Request,
): Promise<Answer> {
  const request = JSON.stringify({ url, body, token: bearer, seconds });
  const node = ["node", "--input-type=module", "-e", askProgram, request];
  return JSON.parse(await kubectl(["-n", place, "exec", pod, "--", ...node])) as Answer;
}

/** The caller of another namespace. */
export const caller = [elsewhere, "caller"] as const;

/** The table that the checks ask for. */
export const tableName = "nodes";
export const tableRows = 1000;

/** Writes the table from inside the table service's pod, into the database that it has. */
export async function writeTable({ kubectl }: Pick<Subject, "kubectl">): Promise<void> {
  const rows = `Array.from({ length: ${tableRows} }, (_, row) => ({ id: row, text: "row " + row, vector: [row, row % 7, row % 11, 1] }))`;
  const program = `
import { connect } from "@lancedb/lancedb";
const options = JSON.parse(process.env.LAKEHEAD_STORAGE_OPTIONS ?? "{}");
const database = await connect(process.env.LAKEHEAD_DATABASE, { storageOptions: options });
await database.createTable("${tableName}", ${rows}, { mode: "overwrite" });`;
  const node = ["node", "--input-type=module", "-e", program];
  await kubectl(["-n", namespace, "exec", "deployment/table-service", "--", ...node]);
}

/** Asks an operation of the table service for the table, from the caller's pod. */
export const operation = (
  subject: Pick<Subject, "kubectl">,
  name: string,
  body: unknown,
  more: Partial<Request> = {},
): Promise<Answer> =>
  askFrom(subject, caller, { url: `http://${serviceName}/v1/table/${tableName}/${name}`, body, ...more });

/** @throws Error unless the answer has the status */
export function expectStatus(answer: Answer, status: number, what: string): void {
  holds(answer.status === status, `${what}: ${answer.status} ${answer.body.slice(0, 400)}, not ${status}`);
}

export const operationsPort = ports.operations;
