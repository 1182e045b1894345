import * as gcp from "@pulumi/gcp";
import * as pulumi from "@pulumi/pulumi";
import { keptServiceImages } from "../../../model/service-image.ts";
import { buildImage, type ImageBuildArgs } from "../../service-image.ts";
import { registryHost } from "./registry-names.ts";

export interface ServiceImageArgs extends Pick<ImageBuildArgs, "platform"> {
  readonly project: string;
  readonly region: string;
  readonly clusterName: string;
}

const daySeconds = 24 * 60 * 60;

/** The image of the table service, built from this repository, in Artifact Registry. */
export class ServiceImage extends pulumi.ComponentResource {
  /** `<repository>@<digest>` */
  readonly image: pulumi.Output<string>;

  constructor(
    name: string,
    { project, region, clusterName, platform }: ServiceImageArgs,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super("lakehead:gcp:ServiceImage", name, {}, opts);
    const child = { parent: this };
    const repository = new gcp.artifactregistry.Repository(
      name,
      {
        project,
        location: region,
        repositoryId: clusterName,
        description: `Image of the table service in ${clusterName}`,
        format: "DOCKER",
        dockerConfig: { immutableTags: true },
        // A version that the first policy keeps is not deleted.
        cleanupPolicies: [
          { id: "keep-newest", action: "KEEP", mostRecentVersions: { keepCount: keptServiceImages } },
          { id: "delete-older", action: "DELETE", condition: { tagState: "ANY", olderThan: `${30 * daySeconds}s` } },
        ],
      },
      child,
    );
    // By an output of the repository: before it exists there is nothing to push to, and the offline plan asks nothing.
    const token = repository.createTime.apply(
      async () => (await gcp.organizations.getClientConfig({ parent: this })).accessToken,
    );
    this.image = buildImage(
      name,
      {
        repository: `${registryHost(region)}/${project}/${clusterName}/table-service`,
        platform,
        username: "oauth2accesstoken",
        password: token,
      },
      { ...child, dependsOn: [repository] },
    );
    this.registerOutputs({ image: this.image });
  }
}
