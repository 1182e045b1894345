/** Names of the cache of Docker Hub in Amazon ECR. */

import { registryHost } from "../identity/arn.ts";

/** Source: docs.aws.amazon.com/AmazonECR/latest/APIReference/API_CreatePullThroughCacheRule.html */
export const longestPrefix = 30;

export const dockerHubPrefix = (clusterName: string): string => `${clusterName}/docker-hub`;

/** Host and path of the cache in the names of images. */
export const dockerHubCache = (place: {
  readonly account: string;
  readonly region: string;
  readonly clusterName: string;
}): string => `${registryHost(place)}/${dockerHubPrefix(place.clusterName)}`;
