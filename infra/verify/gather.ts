/** Collects the cluster's state for the checks. */

import { randomBytes } from "node:crypto";
import { environment, paths, ports } from "../../service/contract.ts";
import { usesCatalog } from "../model/catalog.ts";
import { tableServiceAccount, tableServiceName } from "../model/names.ts";
import { expectations } from "./checks/access.ts";
import type { Reach as BucketFacts } from "./checks/bucket.ts";
import { isOperator } from "./checks/operator.ts";
import { rayClusterNames } from "./checks/ray.ts";
import type { ServiceFacts } from "./checks/table-service.ts";
import type {
  AccountFact,
  Answer,
  DefinitionFact,
  DeploymentFact,
  NodeFact,
  Outcome,
  PodFact,
  Question,
  RayClusterFact,
} from "./facts.ts";
import { isReady } from "./facts.ts";
import type { Kubectl } from "./kubectl.ts";
import type { Stack } from "./stack.ts";

export interface ServiceOptions {
  /** Bearer token for the table service. */
  readonly token: string | undefined;
  /** Id of an existing table. */
  readonly table: string | undefined;
  /** Address of the table service; undefined to forward ports to its pods. */
  readonly url: string | undefined;
  readonly operationsUrl: string | undefined;
}

export const gatherNodes = (kubectl: Kubectl) => kubectl.list<NodeFact>("nodes");
/** @param namespace default: all */
export const gatherPods = (kubectl: Kubectl, namespace?: string) =>
  kubectl.list<PodFact>("pods", ...(namespace === undefined ? ["-A"] : ["-n", namespace]));

export async function gatherAccounts(kubectl: Kubectl, { config, outputs }: Stack) {
  const find = (name: string) => kubectl.find<AccountFact>("serviceaccount", name, config.namespace);
  const [runtime, tableService] = await Promise.all([find(config.serviceAccount), find(tableServiceAccount)]);
  return { runtime, tableService, outputs };
}

export async function gatherOperator(kubectl: Kubectl) {
  const [deployments, definitions] = await Promise.all([
    kubectl.list<DeploymentFact>("deployments", "-A"),
    kubectl.list<DefinitionFact>("customresourcedefinitions"),
  ]);
  return { operators: deployments.filter(isOperator), definitions };
}

export async function gatherRayClusters(kubectl: Kubectl, { config }: Stack) {
  const find = async (name: string) =>
    [name, await kubectl.find<RayClusterFact>("rayclusters.ray.io", name, config.namespace)] as const;
  return Object.fromEntries(await Promise.all(rayClusterNames(config).map(find)));
}

/** Sends one review for each question, all in one call. */
export async function gatherAccess(kubectl: Kubectl, stack: Stack): Promise<Outcome<readonly boolean[]>> {
  const items = expectations(stack, stack.outputs).map(review);
  const list = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  const answer = await kubectl.outcome(["create", "-f", "-", "-o", "json"], { input: list });
  if ("failure" in answer) return answer;
  // kubectl prints the created objects one after another, not as a list.
  const reviews = answer.value.split(/^(?=\{)/m).map((text) => JSON.parse(text) as { status?: { allowed?: boolean } });
  return { value: reviews.map(({ status }) => status?.allowed === true) };
}

function review({ subject, verb, group, resource, subresource, namespace }: Question) {
  const resourceAttributes = {
    verb,
    group,
    resource,
    ...(subresource && { subresource }),
    ...(namespace && { namespace }),
  };
  return {
    apiVersion: "authorization.k8s.io/v1",
    kind: subject === "me" ? "SelfSubjectAccessReview" : "SubjectAccessReview",
    spec: { resourceAttributes, ...(subject === "me" ? {} : subject) },
  };
}

/** Lists the tables' folder with pyarrow, which the Ray image contains. */
const pythonProbe = `
import sys
from pyarrow import fs
place, path = fs.FileSystem.from_uri(sys.argv[1])
print(len(place.get_file_info(fs.FileSelector(path, allow_not_found=True))), "entries")
`;

/** Lists tables with the service's own SDK and settings. A full volume can be listed, and not written. */
const nodeProbe = `
import { statfsSync } from "node:fs";
import { connect } from "@lancedb/lancedb";
const path = process.env.${environment.database};
if (path.startsWith("/")) {
  const { bavail, blocks, bsize } = statfsSync(path);
  if (bavail < blocks / 100) throw new Error("ENOSPC: the volume is full, " + bavail * bsize + " bytes are free");
}
const options = JSON.parse(process.env.${environment.storageOptions} ?? "{}");
const database = await connect(process.env.${environment.database}, { storageOptions: options });
console.log((await database.tableNames({ limit: 10 })).length, "tables at the root");
`;

export async function gatherBucket(
  kubectl: Kubectl,
  { config, outputs }: Stack,
  pods: readonly PodFact[],
): Promise<BucketFacts[]> {
  const uri = String(outputs.databaseUri);
  const { namespace } = config;
  const running = pods.filter(({ metadata, status }) => metadata.namespace === namespace && isReady(status.conditions));
  const ask = async (
    who: string,
    container: string,
    pod: PodFact | undefined,
    command: readonly string[],
  ): Promise<BucketFacts> => {
    const name = pod?.metadata.name ?? `<${who}>`;
    const exec = ["exec", "-n", namespace, name, "-c", container, "--", ...command];
    const outcome = pod === undefined ? undefined : await kubectl.outcome(exec, { seconds: 60 });
    return { who, uri, outcome, manually: `kubectl exec -n ${namespace} ${name} -c ${container} -- ${command[0]} …` };
  };
  const labels = { "ray.io/node-type": "head", "ray.io/cluster": config.ray.name };
  const head = running.find(({ metadata }) =>
    Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value),
  );
  const service = running.find(({ metadata }) => metadata.labels?.["app.kubernetes.io/name"] === tableServiceName);
  return Promise.all([
    // A path is on the table service's volume, which Ray's pods do not mount.
    ...(config.ray.create && uri.includes("://")
      ? [
          ask("a Ray pod", "ray-head", head, ["python", "-c", pythonProbe, uri]).then((facts) => ({
            ...facts,
            closed: usesCatalog(config),
          })),
        ]
      : []),
    ...(config.tableService.enabled
      ? [ask("the table service's pod", tableServiceName, service, ["node", "--input-type=module", "-e", nodeProbe])]
      : []),
  ]);
}

async function ask(url: string, init: RequestInit = {}): Promise<Outcome<Answer>> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(20_000) });
    return { value: { status: response.status, body: await response.text() } };
  } catch (error) {
    const { cause, message } = error as Error;
    return { failure: cause instanceof Error ? cause.message : message };
  }
}

export async function gatherTableService(
  kubectl: Kubectl,
  { config }: Stack,
  asking: ServiceOptions,
): Promise<ServiceFacts> {
  const { namespace } = config;
  const selector = `app.kubernetes.io/name=${tableServiceName}`;
  const pods = await kubectl.list<PodFact>("pods", "-n", namespace, "-l", selector);
  const deployment = await kubectl.find<DeploymentFact>("deployment", tableServiceName, namespace);
  const nothing = { namespace, deployment, pods, request: undefined };
  let { url, operationsUrl } = asking;
  if (deployment !== undefined && (url === undefined || operationsUrl === undefined)) {
    try {
      const forwarded = await kubectl.forward(namespace, `deployment/${tableServiceName}`, [
        ports.api,
        ports.operations,
      ]);
      url ??= `http://127.0.0.1:${forwarded.get(ports.api)}`;
      operationsUrl ??= `http://127.0.0.1:${forwarded.get(ports.operations)}`;
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error);
      return { ...nothing, ready: { failure }, anonymous: { failure } };
    }
  }
  const table = asking.table ?? `verification-${randomBytes(6).toString("hex")}`;
  const request = (headers: Record<string, string>) =>
    ask(`${url}/v1/table/${encodeURIComponent(table)}/stats`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: "{}",
    });
  const [ready, anonymous, outcome] = await Promise.all([
    ask(`${operationsUrl}${paths.ready}`),
    request({}),
    asking.token === undefined ? undefined : request({ authorization: `Bearer ${asking.token}` }),
  ]);
  return {
    namespace,
    deployment,
    pods,
    ready,
    anonymous,
    request: outcome === undefined ? undefined : { table, named: asking.table !== undefined, outcome },
  };
}
