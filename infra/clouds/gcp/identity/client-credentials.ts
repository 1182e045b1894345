import { usesCatalog } from "../../../model/catalog.ts";
import type { GcpConfig } from "../schema.ts";

/**
 * Commands under which the client is the client's service account: application default credentials for the tables,
 * gcloud's configuration for Kubernetes, whose credential plugin asks gcloud.
 */
export function clientCredentials(config: GcpConfig): string {
  const { project, region, clusterName, endpoint, client } = config;
  const account = `${client.accountId}@${accountDomain(project)}`;
  const dns = endpoint.dns ? " --dns-endpoint" : "";
  return `# You must be one of client.members. The cluster's credentials: install gke-gcloud-auth-plugin.
${usesCatalog(config) ? "" : `gcloud auth application-default login --impersonate-service-account=${account}\n`}gcloud config set auth/impersonate_service_account ${account}
gcloud container clusters get-credentials ${clusterName} --region ${region} --project ${project}${dns}
`;
}

/** The domain of a project's service accounts; a project of an old organization is `domain.com:name`. */
function accountDomain(project: string): string {
  return `${project.split(":").reverse().join(".")}.iam.gserviceaccount.com`;
}
