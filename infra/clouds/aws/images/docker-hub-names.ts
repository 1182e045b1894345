/** Names of the cache of Docker Hub in Amazon ECR. */

import { dockerHubRepositories } from "../../../model/image-name.ts";
import { registryHost } from "../identity/arn.ts";
import type { AwsConfig } from "../schema.ts";

/** Source: docs.aws.amazon.com/AmazonECR/latest/APIReference/API_CreatePullThroughCacheRule.html */
export const longestPrefix = 30;

export const dockerHubPrefix = (clusterName: string): string => `${clusterName}/docker-hub`;

/** Host and path of the cache in the names of images. */
export const dockerHubCache = (place: {
  readonly account: string;
  readonly region: string;
  readonly clusterName: string;
}): string => `${registryHost(place)}/${dockerHubPrefix(place.clusterName)}`;

/** The repositories on Docker Hub that a stack pulls from. */
export const cachedRepositories = ({
  ray,
  tableService,
  orphanCleanup,
}: Pick<AwsConfig, "ray" | "tableService" | "orphanCleanup">): string[] =>
  dockerHubRepositories([ray.image.repository, tableService.image, orphanCleanup.image]);
