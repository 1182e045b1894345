/** Manifests of container images: the OCI Image Format Specification 1.1 and Docker's Image Manifest V2, Schema 2. */

/** Media types of indexes first: a registry prefers the first that it can serve. */
export const manifestTypes = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
] as const;

export interface ImageFacts {
  /** Architectures in the names of GOARCH, such as amd64; undefined when they are only in the image's configuration. */
  readonly architectures: readonly string[] | undefined;
  /** Digest of the image's configuration; undefined for an index. */
  readonly configDigest: string | undefined;
}

interface Manifest {
  readonly manifests?: readonly { readonly platform?: { readonly os?: string; readonly architecture?: string } }[];
  readonly config?: { readonly digest?: string };
}

/** Entries for attestations have the platform `unknown/unknown`. */
export function readManifest({ manifests, config }: Manifest): ImageFacts {
  const platforms = manifests?.flatMap(({ platform }) =>
    platform?.os === "linux" && platform.architecture !== undefined ? [platform.architecture] : [],
  );
  return { architectures: platforms && [...new Set(platforms)], configDigest: config?.digest };
}
