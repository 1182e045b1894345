import * as gcp from "@pulumi/gcp";
import * as pulumi from "@pulumi/pulumi";
import { requiredServices } from "./required-services.ts";

/** Enables the project's APIs. A destroy keeps them enabled, because other users of the project may need them. */
export class Services extends pulumi.ComponentResource {
  constructor(name: string, args: { readonly project: string }, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:gcp:Services", name, {}, opts);
    for (const service of requiredServices) {
      new gcp.projects.Service(
        `${name}-${service.replace(".googleapis.com", "")}`,
        { project: args.project, service, disableOnDestroy: false },
        { parent: this },
      );
    }
    this.registerOutputs({});
  }
}
