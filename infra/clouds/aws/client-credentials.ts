import { type Place, roleArn } from "./iam/policy.ts";

/**
 * A profile for ~/.aws/config under which the client reads and writes tables as the client role. The client signs
 * requests to S3 with the caller's own credentials, and assumes the role itself only for Kubernetes.
 */
export function clientCredentials(place: Place, roleName: string, profile: string): string {
  return `# Append this to ~/.aws/config, with a profile of one of client.principals as source_profile.
# Then: export AWS_PROFILE=${profile}
[profile ${profile}]
role_arn = ${roleArn(place, roleName)}
source_profile = default
region = ${place.region}
`;
}
