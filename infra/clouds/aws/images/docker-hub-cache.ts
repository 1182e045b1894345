import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { dockerHub } from "../../../model/image-name.ts";
import { dockerHubPrefix } from "./docker-hub-names.ts";
import { expireAfter } from "./image-lifecycle.ts";

export interface DockerHubCacheArgs {
  readonly clusterName: string;
  readonly username: string;
  /** Access token of the account. */
  readonly token: pulumi.Output<string>;
  /** Repositories on Docker Hub. */
  readonly repositories: readonly string[];
}

const cachedDays = 30;

/**
 * A pull-through cache of Docker Hub in Amazon ECR. It pulls as an account of Docker Hub: ECR has no other way. The stack
 * makes the repositories itself, so that a destroy deletes them and nodes need no permission to create any.
 */
export class DockerHubCache extends pulumi.ComponentResource {
  constructor(name: string, args: DockerHubCacheArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:DockerHubCache", name, {}, opts);
    const child = { parent: this };
    const prefix = dockerHubPrefix(args.clusterName);
    const secret = new aws.secretsmanager.Secret(
      name,
      {
        // ECR accepts secrets with this prefix only.
        name: `ecr-pullthroughcache/${args.clusterName}-docker-hub`,
        description: `Docker Hub account of the image cache of ${args.clusterName}`,
        // The next stack of this name could not make it while it waits for its deletion.
        recoveryWindowInDays: 0,
      },
      child,
    );
    const version = new aws.secretsmanager.SecretVersion(
      name,
      {
        secretId: secret.id,
        secretString: pulumi.secret(
          args.token.apply((accessToken) => JSON.stringify({ username: args.username, accessToken })),
        ),
      },
      child,
    );
    const rule = new aws.ecr.PullThroughCacheRule(
      name,
      { ecrRepositoryPrefix: prefix, upstreamRegistryUrl: dockerHub, credentialArn: secret.arn },
      { ...child, dependsOn: [version] },
    );
    for (const upstream of args.repositories) {
      const key = `${name}-${upstream.replaceAll("/", "-")}`;
      const repository = new aws.ecr.Repository(
        key,
        {
          name: `${prefix}/${upstream}`,
          // The cache moves a tag when Docker Hub does.
          imageTagMutability: "MUTABLE",
          imageScanningConfiguration: { scanOnPush: true },
          forceDelete: true,
        },
        { ...child, dependsOn: [rule] },
      );
      new aws.ecr.LifecyclePolicy(
        key,
        { repository: repository.name, policy: JSON.stringify(expireAfter(cachedDays)) },
        { ...child, deleteBeforeReplace: true },
      );
    }
  }
}
