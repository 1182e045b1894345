import type { Outcome } from "../facts.ts";
import { type Line, ok, unknown, wrong } from "../line.ts";

export interface Reach {
  /** Who looked: `a Ray pod`, `the table service's pod`. */
  readonly who: string;
  readonly uri: string;
  /** What the command in the pod printed, or why it ended otherwise; undefined where there is no pod to ask. */
  readonly outcome: Outcome<string> | undefined;
  /** How the same question is asked by hand. */
  readonly byHand: string;
}

interface Cause {
  readonly signs: RegExp;
  readonly remedy: string;
}

/** What clouds say when they let somebody not in, from the most telling words to the least. */
const causes: readonly Cause[] = [
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
    remedy: "there is no such bucket: look at the stack's output databaseUri",
  },
  {
    signs: /AccessDenied|ACCESS_DENIED|403|Forbidden|PermissionDenied|does not have storage/i,
    remedy:
      "the identity is there and lacks rights: kms keys and bucket policies that others made are the usual reason",
  },
  {
    signs:
      /no providers in chain|Unable to locate credentials|CredentialsNotLoaded|metadata.*(timed out|refused)|InvalidCredential/i,
    remedy:
      "the pod has no identity: its account needs the annotation before the pod starts; delete the pod, a new one gets it",
  },
  {
    signs: /timed out|timeout|ENOTFOUND|could not resolve|dns error|Connection refused|unreachable/i,
    remedy: "nothing leads there: NAT or endpoint of the nodes' network, DNS, and the namespace's network policies",
  },
];

/** Whether the tables' place can be listed from inside the cluster. */
export function judgeBucket({ who, uri, outcome, byHand }: Reach): Line {
  if (outcome === undefined) return unknown(`tables ${uri}: ${who} was not there to look`, byHand);
  if ("value" in outcome) return ok(`tables ${uri}: ${who} lists them (${outcome.value.trim()})`);
  const failure = outcome.failure.trim();
  // That kubectl could not run the command says nothing of the bucket.
  if (
    /error dialing backend|upgrad(e|ing) connection|no preferred addresses|container not found|executable file not found/i.test(
      failure,
    )
  )
    return unknown(`tables ${uri}: no command runs in ${who}: ${lastLine(failure)}`, byHand);
  const cause = causes.find(({ signs }) => signs.test(failure));
  return wrong(`tables ${uri}: ${who} cannot list them: ${lastLine(failure)}`, cause?.remedy ?? byHand);
}

const lastLine = (text: string): string => text.split("\n").at(-1)?.trim().slice(0, 300) ?? "";
