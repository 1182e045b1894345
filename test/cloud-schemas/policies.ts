/** The IAM policies and trusts of a plan, as parliament takes them. */
import type { PlannedResource } from "../../infra/offline-plan/capture.ts";
import { mask } from "../../infra/offline-plan/values.ts";

export interface Policy {
  readonly name: string;
  readonly document: { readonly Statement: unknown };
}

export interface PlanPolicies {
  readonly policies: readonly Policy[];
  /** Names of those in which a sample stands for a value that only AWS knows. */
  readonly sampled: readonly string[];
  /** Policies that cannot be judged, with the reason. */
  readonly faults: readonly string[];
}

/** What AWS would return in place of `<computed <type> <name>.<property>>`, by type and property. */
const samples: Readonly<Record<string, string>> = {
  "Key.arn": "arn:aws:kms:eu-central-1:111122223333:key/01234567-89ab-cdef-0123-456789abcdef",
  "Workspace.arn": "arn:aws:aps:eu-central-1:111122223333:workspace/ws-01234567-89ab-cdef-0123-456789abcdef",
  // The plan writes the ARN in two parts.
  "OpenIdConnectProvider.arn": "arn:aws:iam::111122223333",
  "OpenIdConnectProvider.url": "oidc.eks.eu-central-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF",
};

const placeholder = /<computed (\w+) [^>]*\.(\w+)>/g;

/** @throws Error for a placeholder without a sample */
export const withSamples = (text: string): string =>
  text.replaceAll(placeholder, (whole, type: string, property: string) => {
    const sample = samples[`${type}.${property}`];
    if (sample === undefined) throw new Error(`${whole} has no sample in test/cloud-schemas/policies.ts`);
    return sample;
  });

/** Inputs that hold a document; `upgradePolicy` and others hold none. */
const documents: readonly string[] = ["policy", "assumeRolePolicy"];

/** A lifecycle policy of images is no policy of rights. */
const isJudged = ({ type }: PlannedResource): boolean =>
  type.startsWith("aws:") && !type.startsWith("aws:ecr/lifecyclePolicy:");

/** @param resources of a preview, so that the documents are those of the offline plan */
export function policiesOf(resources: readonly PlannedResource[]): PlanPolicies {
  const policies: Policy[] = [];
  const sampled: string[] = [];
  const faults: string[] = [];
  for (const { type, name, inputs } of resources.filter(isJudged))
    for (const [key, value] of Object.entries(inputs).filter(([key]) => documents.includes(key))) {
      const text = mask(value);
      const place = `${type} ${name}.${key}`;
      try {
        if (typeof text !== "string") throw new Error(`it is ${JSON.stringify(text)} and no text`);
        const document = JSON.parse(withSamples(text)) as Policy["document"];
        policies.push({ name: place, document });
        if (text.search(placeholder) !== -1) sampled.push(place);
      } catch (error) {
        faults.push(`${place}: ${(error as Error).message}`);
      }
    }
  return { policies, sampled, faults };
}
