import { type Line, ok, unknown, wrong } from "../../check-line.ts";
import type { PlannedStack } from "../../clouds/schema.ts";
import { tableServiceAccount } from "../../model/names.ts";
import { clientClusterRules, clientNamespaceRules } from "../../workloads/client-access.ts";
import { runtimeRules } from "../../workloads/runtime-account.ts";
import type { Outcome, Question } from "../facts.ts";

/** A question with its expected answer. */
export interface Expectation extends Question {
  /** The subject, as the output names it. */
  readonly who: string;
  readonly allowed: boolean;
}

interface Rule {
  readonly apiGroups?: unknown;
  readonly resources?: unknown;
  readonly verbs?: unknown;
}

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

type Subject = Pick<Expectation, "who" | "subject">;

const account = (namespace: string, name: string, who: string): Subject => ({
  who,
  subject: {
    user: `system:serviceaccount:${namespace}:${name}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
  },
});

/** One question for each verb on each resource of some rules. */
function each(subject: Subject, rules: readonly Rule[], allowed: boolean, namespace?: string): Expectation[] {
  return rules.flatMap(({ apiGroups, resources, verbs }) =>
    texts(apiGroups).flatMap((group) =>
      texts(resources).flatMap((name) => {
        const [resource = "", subresource] = name.split("/");
        return texts(verbs).map((verb) => ({
          ...subject,
          allowed,
          verb,
          group,
          resource,
          ...(subresource === undefined ? {} : { subresource }),
          ...(namespace === undefined ? {} : { namespace }),
        }));
      }),
    ),
  );
}

const secrets: Rule = { apiGroups: [""], resources: ["secrets"], verbs: ["get", "list"] };
/** Permissions by which a Ray job, which runs other people's code, could take over the cluster. */
const takeover: readonly Rule[] = [
  { apiGroups: [""], resources: ["nodes"], verbs: ["delete", "patch"] },
  { apiGroups: [""], resources: ["secrets"], verbs: ["list"] },
  { apiGroups: ["rbac.authorization.k8s.io"], resources: ["clusterrolebindings"], verbs: ["create", "patch"] },
  { apiGroups: ["apps"], resources: ["daemonsets"], verbs: ["create"] },
];

/** Permissions that the runtime, the table service and the client must have, and some that they must not have. */
export function expectations(stack: PlannedStack, outputs: Readonly<Record<string, unknown>>): Expectation[] {
  const { config } = stack;
  const { namespace } = config;
  const runtime = account(namespace, config.serviceAccount, "Ray's pods");
  const service = account(namespace, tableServiceAccount, "the table service");
  const all = { apiGroups: [""], resources: ["pods", "configmaps"], verbs: ["list", "create"] };
  return [
    ...each({ who: "you", subject: "me" }, [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }], true),
    ...each(runtime, runtimeRules, true),
    ...each(runtime, [secrets], false, namespace),
    ...each(runtime, takeover, false),
    ...(config.tableService.enabled ? each(service, [all, secrets], false, namespace) : []),
    ...clientExpectations(stack, outputs),
  ];
}

function clientExpectations(
  { config, facts }: PlannedStack,
  outputs: Readonly<Record<string, unknown>>,
): Expectation[] {
  const client = facts.clientSubject(outputs);
  if (client === undefined) return [];
  const subject = { who: "the client", subject: client };
  if (config.client.access === "cluster-admin")
    return each(subject, [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }], true);
  return [
    ...each(subject, clientNamespaceRules, true, config.namespace),
    ...each(subject, clientClusterRules, true),
    ...each(subject, [secrets], false, config.namespace),
    ...each(subject, takeover, false),
  ];
}

/** @param answers - In the order of the expectations. */
export function checkAccess(expected: readonly Expectation[], answers: Outcome<readonly boolean[]>): Line[] {
  if ("failure" in answers)
    return [
      unknown(
        `access: the API server refused the access reviews: ${answers.failure}`,
        "use an account that may create SubjectAccessReviews",
      ),
    ];
  const subjects = [...new Set(expected.map(({ who }) => who))];
  return subjects.flatMap((who) => {
    const own = expected.flatMap((one, index) => (one.who === who ? [{ one, given: answers.value[index] }] : []));
    const off = own.filter(({ one, given }) => one.allowed !== given);
    const granted = own.filter(({ one }) => one.allowed).length;
    if (off.length === 0)
      return [
        ok(`access ${who}: ${granted} expected permissions present, ${own.length - granted} forbidden ones absent`),
      ];
    return off.map(({ one }) =>
      one.allowed
        ? wrong(
            `access ${who}: may not ${describe(one)}`,
            who === "you"
              ? "the checks below may miss what you cannot read: use an account that administers the cluster"
              : "pulumi refresh, then pulumi up: a Role or binding is missing",
          )
        : wrong(
            `access ${who}: may ${describe(one)}, which the stack does not grant`,
            "find the binding: kubectl get rolebindings,clusterrolebindings -A -o wide",
          ),
    );
  });
}

function describe({ verb, group, resource, subresource, namespace }: Question): string {
  if (verb === "*") return "do everything";
  const what = `${resource}${group === "" ? "" : `.${group}`}${subresource === undefined ? "" : `/${subresource}`}`;
  return `${verb} ${what}${namespace === undefined ? "" : ` in ${namespace}`}`;
}
