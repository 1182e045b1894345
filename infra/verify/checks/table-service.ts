import type { Answer, DeploymentFact, Outcome } from "../facts.ts";
import { type Line, ok, unknown, wrong } from "../line.ts";

export interface ServiceFacts {
  readonly namespace: string;
  /** Undefined where there is none. */
  readonly deployment: DeploymentFact | undefined;
  readonly ready: Outcome<Answer>;
  /** A request without a token. */
  readonly anonymous: Outcome<Answer>;
  /** A request with the caller's token; undefined when none was given. */
  readonly request: { readonly table: string; readonly named: boolean; readonly outcome: Outcome<Answer> } | undefined;
}

/** The table service: its pods, its readiness, its door, and one operation from end to end. */
export function judgeTableService({ namespace, deployment, ready, anonymous, request }: ServiceFacts): Line[] {
  if (deployment === undefined) return [wrong(`table service: no Deployment in ${namespace}`, "pulumi up")];
  return [
    judgePods(namespace, deployment),
    judgeReadiness(namespace, ready),
    judgeDoor(anonymous),
    request === undefined
      ? unknown(
          "table service: no operation was asked, as there was no token to ask with",
          "LAKEHEAD_TOKEN=<a token of the issuer> npm run verify -- <stack> [--table <id>]",
        )
      : judgeOperation(request),
  ];
}

function judgePods(namespace: string, { spec, status }: DeploymentFact): Line {
  const available = status.availableReplicas ?? 0;
  const wanted = spec.replicas ?? 1;
  const logs = `kubectl -n ${namespace} logs deployment/table-service; kubectl -n ${namespace} describe pods -l app.kubernetes.io/name=table-service`;
  return available < wanted
    ? wrong(`table service: ${available} of ${wanted} pods available`, logs)
    : ok(`table service: ${available} of ${wanted} pods available, ${spec.template.spec.containers[0]?.image ?? ""}`);
}

const remedies: Readonly<Record<string, (namespace: string) => string>> = {
  databaseConnected: (namespace) =>
    `it cannot open the database: kubectl -n ${namespace} logs deployment/table-service`,
  keysLoaded: () =>
    "it cannot fetch the issuer's keys: check tableService.auth.issuer, jwksUrl and the way out of the cluster",
  workersAvailable: () =>
    "its worker processes do not start: the pod's memory is the usual reason (tableService.memory)",
};

function judgeReadiness(namespace: string, ready: Outcome<Answer>): Line {
  if ("failure" in ready)
    return wrong(
      `table service: no answer on its operations port: ${ready.failure}`,
      `kubectl -n ${namespace} get pods`,
    );
  const { status, body } = ready.value;
  if (status === 200) return ok("table service: ready");
  const state = parse(body);
  const culprit = Object.keys(remedies).find((key) => state[key] === false);
  return wrong(
    `table service: not ready (${status}${culprit === undefined ? "" : `, ${culprit}: false`})`,
    (culprit === undefined ? undefined : remedies[culprit]?.(namespace)) ??
      `kubectl -n ${namespace} logs deployment/table-service`,
  );
}

function judgeDoor(anonymous: Outcome<Answer>): Line {
  if ("failure" in anonymous)
    return wrong(
      `table service: no answer on its API port: ${anonymous.failure}`,
      "the port-forward or the Service does not lead to it",
    );
  return anonymous.value.status === 401
    ? ok("table service: refuses a request without a token")
    : wrong(
        `table service: answers ${anonymous.value.status} to a request without a token, where 401 is expected`,
        "it runs without authentication, or something else answers at this address: set tableService.auth",
      );
}

function judgeOperation({ table, named, outcome }: NonNullable<ServiceFacts["request"]>): Line {
  const asked = `table service: statistics of "${table}"`;
  if ("failure" in outcome) return wrong(`${asked}: ${outcome.failure}`, "see its log; the request reached no answer");
  const { status, body } = outcome.value;
  const { code, error, num_rows: rows } = parse(body);
  if (status === 200) return ok(`${asked}: ${String(rows)} rows`);
  // Without a table that is known to exist, its absence is what shows the way to the bucket and back.
  if (status === 404 && code === 4 && !named)
    return ok(
      `${asked}: there is none, which it has looked up in the tables' place; name one with --table to see rows`,
    );
  const said = `${asked}: ${status}${typeof error === "string" ? `, ${error}` : ""}`;
  switch (status) {
    case 401:
      return wrong(said, "the token is not of the issuer and audience that the stack names, or has expired");
    case 403:
      return wrong(said, "the token lacks the scope for statistics, or may not see this table");
    case 404:
      return wrong(said, "list the tables at the stack's databaseUri: ids are namespaces and name, joined by $");
    case 503:
      return wrong(said, "the store does not answer: look at the lines on the tables' place above");
    default:
      return wrong(said, "the answer's request id finds the cause in the service's log");
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
