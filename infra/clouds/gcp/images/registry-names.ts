/** Names of the repositories in Artifact Registry. */

/** The host of a region's Docker repositories. */
export const registryHost = (region: string): string => `${region}-docker.pkg.dev`;

export const dockerHubRepositoryId = (clusterName: string): string => `${clusterName}-docker-hub`;

interface Place {
  readonly project: string;
  readonly region: string;
  readonly clusterName: string;
}

/** Host and path of the cache of Docker Hub in the names of images. */
export const dockerHubCache = ({ project, region, clusterName }: Place): string =>
  `${registryHost(region)}/${project}/${dockerHubRepositoryId(clusterName)}`;
