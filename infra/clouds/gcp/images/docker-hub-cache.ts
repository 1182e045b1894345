import * as gcp from "@pulumi/gcp";
import * as pulumi from "@pulumi/pulumi";
import { dockerHubRepositoryId } from "./registry-names.ts";

export interface DockerHubCacheArgs {
  readonly project: string;
  readonly region: string;
  readonly clusterName: string;
  /** The account that the cache pulls as, and its access token; without one it pulls anonymously. */
  readonly credentials: { readonly username: string; readonly token: pulumi.Output<string> } | undefined;
}

const cachedSeconds = 30 * 24 * 60 * 60;

/** A remote repository of Docker Hub in Artifact Registry. The nodes can read every repository of the project. */
export class DockerHubCache extends pulumi.ComponentResource {
  constructor(name: string, args: DockerHubCacheArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:gcp:DockerHubCache", name, {}, opts);
    const { project, region, clusterName, credentials } = args;
    const access = credentials === undefined ? undefined : this.#access(name, args, credentials.token);
    new gcp.artifactregistry.Repository(
      name,
      {
        project,
        location: region,
        repositoryId: dockerHubRepositoryId(clusterName),
        description: `Images of Docker Hub for ${clusterName}`,
        format: "DOCKER",
        mode: "REMOTE_REPOSITORY",
        remoteRepositoryConfig: {
          description: "Docker Hub",
          dockerRepository: { publicRepository: "DOCKER_HUB" },
          ...(credentials === undefined || access === undefined
            ? {}
            : {
                upstreamCredentials: {
                  usernamePasswordCredentials: {
                    username: credentials.username,
                    passwordSecretVersion: access.version,
                  },
                },
              }),
        },
        // The cache gets a deleted image again at the next pull.
        cleanupPolicies: [
          { id: "delete-old", action: "DELETE", condition: { tagState: "ANY", olderThan: `${cachedSeconds}s` } },
        ],
      },
      { parent: this, dependsOn: access?.grants ?? [] },
    );
  }

  /** The token as a secret that Artifact Registry's service agent of the project can read. */
  #access(name: string, { project, region, clusterName }: DockerHubCacheArgs, token: pulumi.Output<string>) {
    const child = { parent: this };
    const api = new gcp.projects.Service(
      `${name}-secrets`,
      { project, service: "secretmanager.googleapis.com", disableOnDestroy: false },
      child,
    );
    const secret = new gcp.secretmanager.Secret(
      name,
      {
        project,
        secretId: `${clusterName}-docker-hub`,
        replication: { userManaged: { replicas: [{ location: region }] } },
      },
      { ...child, dependsOn: [api] },
    );
    const version = new gcp.secretmanager.SecretVersion(name, { secret: secret.id, secretData: token }, child);
    const agent = new gcp.projects.ServiceIdentity(
      `${name}-registry`,
      { project, service: "artifactregistry.googleapis.com" },
      child,
    );
    const grant = new gcp.secretmanager.SecretIamMember(
      `${name}-registry`,
      {
        project,
        secretId: secret.secretId,
        role: "roles/secretmanager.secretAccessor",
        member: pulumi.interpolate`serviceAccount:${agent.email}`,
      },
      child,
    );
    return { version: version.name, grants: [grant] };
  }
}
