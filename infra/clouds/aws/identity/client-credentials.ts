import type { AwsConfig } from "../schema.ts";
import { clientRoleArn } from "./cluster-policies.ts";
import type { Place } from "./policy.ts";

/**
 * A profile for ~/.aws/config under which the client reads and writes tables as the client role. The client signs
 * requests to S3 with the caller's own credentials, and assumes the role itself only for Kubernetes.
 *
 * The deployer's profile of the same file is `lakehead-<stack>`, and a name that is there twice makes the file unreadable.
 */
export function clientCredentials(place: Place, config: Pick<AwsConfig, "iam" | "client">, stack: string): string {
  const { principals } = config.client;
  const profile = `lakehead-${stack}-client`;
  const source =
    principals.length > 0
      ? "# Append this to ~/.aws/config, with a profile of one of client.principals as source_profile."
      : "# Append this to ~/.aws/config. Only the deployer may assume the role: source_profile is its profile.";
  return `${source}
# Then: export AWS_PROFILE=${profile}
[profile ${profile}]
role_arn = ${clientRoleArn(place, config)}
source_profile = ${principals.length > 0 ? "default" : `lakehead-${stack}`}
region = ${place.region}
`;
}
