/** Names of container images, as Docker reads them. */

export interface ImageName {
  /** Host with port. */
  readonly registry: string;
  readonly repository: string;
  /** Tag or digest. */
  readonly reference: string;
}

export const dockerHub = "registry-1.docker.io";

/** The first part is a registry if it has a dot or a port, or is localhost. */
export function parseImage(image: string): ImageName {
  const [, name = "", tag = "latest", digest] = /^(.+?)(?::([\w][\w.-]*))?(?:@(.+))?$/.exec(image) ?? [];
  const [first = "", ...rest] = name.split("/");
  const hasRegistry = rest.length > 0 && /[.:]|^localhost$/.test(first);
  const registry = hasRegistry ? first : "docker.io";
  const path = hasRegistry ? rest.join("/") : name;
  return {
    registry: registry === "docker.io" ? dockerHub : registry,
    repository: registry === "docker.io" && !path.includes("/") ? `library/${path}` : path,
    reference: digest ?? tag,
  };
}

/**
 * An image, or a repository without a tag, by way of a cache of Docker Hub. Images of other registries stay the same.
 * @param cache host and path of the cache; undefined without one
 */
export function throughCache(image: string, cache: string | undefined): string {
  const { registry, repository } = parseImage(image);
  if (cache === undefined || registry !== dockerHub) return image;
  const [name = ""] = /^[^:@]+/.exec(image) ?? [];
  return `${cache}/${repository}${image.slice(name.length)}`;
}

/** The repositories on Docker Hub that these images are of, each once. */
export function dockerHubRepositories(images: readonly (string | undefined)[]): string[] {
  const names = images.flatMap((image) => (image === undefined ? [] : [parseImage(image)]));
  return [...new Set(names.flatMap(({ registry, repository }) => (registry === dockerHub ? [repository] : [])))];
}
