import { type Line, ok, unknown, wrong } from "../../check-line.ts";
import type { Answer, DeploymentFact, Outcome, PodFact } from "../facts.ts";

export interface ServiceFacts {
  readonly namespace: string;
  /** Undefined where it does not exist. */
  readonly deployment: DeploymentFact | undefined;
  /** Its pods. */
  readonly pods: readonly PodFact[];
  readonly ready: Outcome<Answer>;
  /** Response to a request without a token. */
  readonly anonymous: Outcome<Answer>;
  /** Response to a request with the caller's token; undefined without a token. */
  readonly request: { readonly table: string; readonly named: boolean; readonly outcome: Outcome<Answer> } | undefined;
}

/** The table service: its pods, its readiness, its authentication, and one operation from end to end. */
export function checkTableService({ namespace, deployment, pods, ready, anonymous, request }: ServiceFacts): Line[] {
  if (deployment === undefined) return [wrong(`table service: no Deployment in ${namespace}`, "pulumi up")];
  return [
    checkPods(namespace, deployment, pods),
    checkReadiness(namespace, ready),
    checkAuthentication(anonymous),
    request === undefined
      ? unknown(
          "table service: no operation was requested, because there is no token",
          "LAKEHEAD_TOKEN=<a token of the issuer> npm run verify -- <stack> [--table <id>]",
        )
      : checkOperation(request),
  ];
}

/** Why a pod is not ready, as its kubelet or the scheduler says. */
function reasonOf({ metadata, status }: PodFact): string[] {
  const waiting = status.containerStatuses?.find(({ state }) => state?.waiting !== undefined)?.state?.waiting;
  const scheduled = status.conditions?.find(({ type }) => type === "PodScheduled");
  const reason = waiting?.reason ?? (scheduled?.status === "False" ? scheduled.message : undefined);
  return reason === undefined ? [] : [`${metadata.name}: ${reason}`];
}

function checkPods(namespace: string, { spec, status }: DeploymentFact, pods: readonly PodFact[]): Line {
  const available = status.availableReplicas ?? 0;
  const wanted = spec.replicas ?? 1;
  const logs = `kubectl -n ${namespace} logs deployment/table-service; kubectl -n ${namespace} describe pods -l app.kubernetes.io/name=table-service`;
  const reasons = pods.flatMap(reasonOf);
  const why = reasons.length === 0 ? "" : ` (${reasons.join("; ")})`;
  return available < wanted
    ? wrong(`table service: ${available} of ${wanted} pods available${why}`, logs)
    : ok(`table service: ${available} of ${wanted} pods available, ${spec.template.spec.containers[0]?.image ?? ""}`);
}

const remedies: Readonly<Record<string, (namespace: string) => string>> = {
  databaseConnected: (namespace) =>
    `the service cannot open the database: kubectl -n ${namespace} logs deployment/table-service`,
  keysLoaded: () =>
    "the service cannot fetch the issuer's keys: check tableService.auth.issuer, jwksUrl and the cluster's egress",
  workersAvailable: () => "worker processes do not start, usually for lack of memory: raise tableService.memory",
};

function checkReadiness(namespace: string, ready: Outcome<Answer>): Line {
  if ("failure" in ready)
    return wrong(
      `table service: no response on its operations port: ${ready.failure}`,
      `kubectl -n ${namespace} get pods`,
    );
  const { status, body } = ready.value;
  if (status === 200) return ok("table service: ready");
  const state = parse(body);
  const failed = Object.keys(remedies).find((key) => state[key] === false);
  return wrong(
    `table service: not ready (${status}${failed === undefined ? "" : `, ${failed}: false`})`,
    (failed === undefined ? undefined : remedies[failed]?.(namespace)) ??
      `kubectl -n ${namespace} logs deployment/table-service`,
  );
}

function checkAuthentication(anonymous: Outcome<Answer>): Line {
  if ("failure" in anonymous)
    return wrong(
      `table service: no response on its API port: ${anonymous.failure}`,
      "check the port-forward, or the address given by --service-url",
    );
  return anonymous.value.status === 401
    ? ok("table service: a request without a token gets 401")
    : wrong(
        `table service: a request without a token gets ${anonymous.value.status}, expected 401`,
        "set tableService.auth, unless another program listens at this address",
      );
}

function checkOperation({ table, named, outcome }: NonNullable<ServiceFacts["request"]>): Line {
  const asked = `table service: statistics of "${table}"`;
  if ("failure" in outcome)
    return wrong(`${asked}: ${outcome.failure}`, "the request got no response: see the service's log");
  const { status, body } = outcome.value;
  const { code, error, num_rows: rows } = parse(body);
  if (status === 200) return ok(`${asked}: ${String(rows)} rows`);
  // The table does not exist unless --table names one. Code 4 shows that the service looked it up in the bucket.
  if (status === 404 && code === 4 && !named)
    return ok(`${asked}: not found, so the service can read the bucket; use --table <id> to read a real table`);
  const said = `${asked}: ${status}${typeof error === "string" ? `, ${error}` : ""}`;
  switch (status) {
    case 401:
      return wrong(said, "the token has expired, or has another issuer or audience than the stack names");
    case 403:
      return wrong(said, "the token lacks the scope for statistics, or the right to see this table");
    case 404:
      return wrong(said, "list the tables at the stack's databaseUri; an id is namespaces and name, joined by $");
    case 503:
      return wrong(said, "the store does not respond: see the lines about tables above");
    default:
      return wrong(said, "search the service's log for the request id of the response");
  }
}

function parse(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
