import * as dockerBuild from "@pulumi/docker-build";
import * as pulumi from "@pulumi/pulumi";

export interface ImageBuildArgs {
  /** Repository without tag. Known before it exists, so that a preview can check the build. */
  readonly repository: string;
  readonly platform: "linux/amd64" | "linux/arm64";
  readonly username: pulumi.Input<string>;
  /** A short-lived token. The provider ignores a change of it. */
  readonly password: pulumi.Input<string>;
}

/** The provider that builds images. Without a host it takes Docker's own settings, and no machine's are in the state. */
export const imageBuilder = (): dockerBuild.Provider => new dockerBuild.Provider("docker-build", { host: "" });

/**
 * Builds and pushes the image of the Dockerfile. A change of a file that `.dockerignore` admits builds it again.
 * It has no tag: the digest identifies it, and with a tag the provider would delete it from the registry on destroy, with a
 * token that may have expired.
 *
 * @returns `<repository>@<digest>`
 */
export function buildImage(
  name: string,
  { repository, platform, username, password }: ImageBuildArgs,
  opts: pulumi.CustomResourceOptions,
): pulumi.Output<string> {
  const [address = ""] = repository.split("/");
  const image = new dockerBuild.Image(
    name,
    {
      // Relative to the folder of the program, in which the engine starts its providers.
      context: { location: ".." },
      platforms: [platform],
      exports: [{ image: { names: [repository], push: true, pushByDigest: true } }],
      push: false,
      // A preview needs no Docker.
      buildOnPreview: false,
      registries: [{ address, username, password: pulumi.secret(password) }],
    },
    opts,
  );
  return pulumi.interpolate`${repository}@${image.digest}`;
}
