import { type Line, ok, unknown, wrong } from "../../check-line.ts";
import type { PlannedStack } from "../../clouds/schema.ts";
import { tableServiceAccount } from "../../model/names.ts";
import type { AccountFact } from "../facts.ts";

/** Annotations that give a Kubernetes account a cloud identity. The runtime's client requires one of them. */
const identityKeys = [
  "eks.amazonaws.com/role-arn",
  "iam.gke.io/gcp-service-account",
  "azure.workload.identity/client-id",
];

export interface AccountFacts {
  /** Undefined where the account does not exist. */
  readonly runtime: AccountFact | undefined;
  readonly tableService: AccountFact | undefined;
  /** The stack's outputs. */
  readonly outputs: Readonly<Record<string, unknown>>;
}

/** The service accounts of Ray's pods and of the table service, and their cloud identities. */
export function checkAccounts(stack: PlannedStack, { runtime, tableService, outputs }: AccountFacts): Line[] {
  const { config, facts } = stack;
  const lines = [checkRuntime(stack, runtime, outputs)];
  if (!config.tableService.enabled) return lines;
  const where = `${config.namespace}/${tableServiceAccount}`;
  if (tableService === undefined) return [...lines, wrong(`account ${where}: it does not exist`, "pulumi up")];
  if (facts.identityOutput === undefined) return [...lines, ok(`account ${where}: exists`)];
  const identity = identityOf(tableService);
  return [
    ...lines,
    identity === undefined
      ? wrong(
          `account ${where}: no annotation names a cloud identity, so it has no access to the bucket`,
          "pulumi refresh, then pulumi up",
        )
      : ok(`account ${where}: identity ${identity.value}`),
  ];
}

function checkRuntime(
  { config, facts: { identityOutput } }: PlannedStack,
  runtime: AccountFact | undefined,
  outputs: AccountFacts["outputs"],
): Line {
  const where = `${config.namespace}/${config.serviceAccount}`;
  if (runtime === undefined)
    return wrong(
      `account ${where}: it does not exist, and KubeRay does not create it`,
      "pulumi up; the client requires exactly this name",
    );
  const identity = identityOf(runtime);
  if (identity === undefined) {
    const text = `account ${where}: it has none of the annotations ${identityKeys.join(", ")}`;
    return identityOutput === undefined
      ? unknown(
          text,
          "the runtime's client refuses such an account: name an identity under accountAnnotations before you use it",
        )
      : wrong(`${text}, and the runtime's client refuses such an account`, "pulumi refresh, then pulumi up");
  }
  const expected = identityOutput === undefined ? undefined : outputs[identityOutput];
  return expected !== undefined && expected !== identity.value
    ? wrong(
        `account ${where}: ${identity.key} is ${identity.value}, but the stack created ${String(expected)}`,
        "pulumi refresh, then pulumi up: the account was changed outside of the stack",
      )
    : ok(`account ${where}: identity ${identity.value}`);
}

function identityOf({ metadata }: AccountFact): { key: string; value: string } | undefined {
  for (const key of identityKeys) {
    const value = metadata.annotations?.[key];
    if (value !== undefined && value !== "") return { key, value };
  }
  return undefined;
}
