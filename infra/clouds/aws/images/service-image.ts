import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { keptServiceImages } from "../../../model/service-image.ts";
import { buildImage, type ImageBuildArgs } from "../../service-image.ts";
import { registryHost } from "../identity/arn.ts";
import type { Place } from "../identity/policy.ts";
import { keepNewest } from "./image-lifecycle.ts";

export interface ServiceImageArgs extends Pick<ImageBuildArgs, "platform"> {
  readonly place: Place;
}

/** The image of the table service, built from this repository, in Amazon ECR. */
export class ServiceImage extends pulumi.ComponentResource {
  /** `<repository>@<digest>` */
  readonly image: pulumi.Output<string>;

  constructor(name: string, { place, platform }: ServiceImageArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:ServiceImage", name, {}, opts);
    const child = { parent: this };
    const repositoryName = `${place.cluster}/table-service`;
    const repository = new aws.ecr.Repository(
      name,
      {
        name: repositoryName,
        imageTagMutability: "IMMUTABLE",
        imageScanningConfiguration: { scanOnPush: true },
        // Every image in it can be built again.
        forceDelete: true,
      },
      child,
    );
    new aws.ecr.LifecyclePolicy(
      name,
      { repository: repository.name, policy: JSON.stringify(keepNewest(keptServiceImages)) },
      // A repository has one policy: to delete the old one last would delete the new one.
      { ...child, deleteBeforeReplace: true },
    );
    // By an output of the repository: before it exists there is nothing to push to, and the offline plan asks nothing.
    const token = aws.ecr.getAuthorizationTokenOutput({ registryId: repository.registryId }, child);
    this.image = buildImage(
      name,
      {
        repository: `${registryHost(place)}/${repositoryName}`,
        platform,
        username: "AWS",
        password: token.password,
      },
      { ...child, dependsOn: [repository] },
    );
    this.registerOutputs({ image: this.image });
  }
}
