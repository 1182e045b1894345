import { type Line, ok, unknown, wrong } from "../../check-line.ts";
import type { Outcome } from "../facts.ts";

export interface Reach {
  /** Where the listing ran: `a Ray pod`, `the table service's pod`. */
  readonly who: string;
  readonly uri: string;
  /** Whether the stack gives the pod no rights there: a listing is a fault then. */
  readonly closed?: boolean;
  /** Output of the command in the pod, or its failure; undefined where no such pod runs. */
  readonly outcome: Outcome<string> | undefined;
  /** The command that does the same by hand. */
  readonly manually: string;
}

interface Cause {
  readonly signs: RegExp;
  readonly remedy: string;
  /** Whether the store answered that it permits nothing. */
  readonly denied?: true;
}

/** Messages of clouds that refuse access, the most specific first. */
const causes: readonly Cause[] = [
  {
    signs: /ENOSPC/,
    remedy:
      "raise database.volumeSize where the storage class can grow volumes, or clean up old versions of the tables",
  },
  {
    signs: /not authorized to perform: sts:AssumeRoleWithWebIdentity|InvalidIdentityToken|No OpenIDConnect provider/i,
    remedy:
      "the role does not trust the account: its trust policy must name this cluster's OIDC provider, namespace and account",
  },
  {
    signs: /iam\.serviceAccounts\.getAccessToken|workloadIdentityUser/i,
    remedy: "the Google service account lacks roles/iam.workloadIdentityUser for this Kubernetes account: pulumi up",
  },
  {
    signs: /NoSuchBucket|bucket does not exist|notFound.*bucket/i,
    remedy: "the bucket does not exist: see the stack's output databaseUri",
  },
  {
    signs: /AccessDenied|ACCESS_DENIED|403|Forbidden|PermissionDenied|does not have storage/i,
    remedy: "the identity lacks permissions, usually on a KMS key or by a bucket policy that is not part of the stack",
    denied: true,
  },
  {
    signs:
      /no providers in chain|Unable to locate credentials|CredentialsNotLoaded|metadata.*(timed out|refused)|InvalidCredential/i,
    remedy: "the pod has no identity: it started before its account had the annotation; delete the pod",
  },
  {
    signs: /timed out|timeout|ENOTFOUND|could not resolve|dns error|Connection refused|unreachable/i,
    remedy: "no route to the store: check the nodes' NAT or endpoint, DNS, and the namespace's network policies",
  },
];

/** Whether the bucket or folder of the tables can be listed from inside the cluster. */
export function checkBucket({ who, uri, closed, outcome, manually }: Reach): Line {
  if (outcome === undefined) return unknown(`tables ${uri}: not checked, ${who} is not running`, manually);
  if ("value" in outcome)
    return closed === true
      ? wrong(
          `tables ${uri}: ${who} lists them, with tableService.catalog`,
          "look for a policy that is not part of the stack",
        )
      : ok(`tables ${uri}: ${who} lists them (${outcome.value.trim()})`);
  const failure = outcome.failure.trim();
  // A failure of kubectl exec tells nothing about the bucket.
  if (
    /error dialing backend|upgrad(e|ing) connection|no preferred addresses|container not found|executable file not found/i.test(
      failure,
    )
  )
    return unknown(`tables ${uri}: not checked, kubectl exec failed in ${who}: ${lastLine(failure)}`, manually);
  const cause = causes.find(({ signs }) => signs.test(failure));
  if (closed === true && cause?.denied === true) return ok(`tables ${uri}: ${who} has no rights on them`);
  return wrong(`tables ${uri}: ${who} cannot list them: ${lastLine(failure)}`, cause?.remedy ?? manually);
}

/** The last line that names an error: after it Node prints its version, and kubectl the exit code. */
const lastLine = (text: string): string => {
  const lines = text.split("\n").map((line) => line.trim());
  return (lines.findLast((line) => /^\w*(Error|Exception)\b/.test(line)) ?? lines.at(-1) ?? "").slice(0, 300);
};
