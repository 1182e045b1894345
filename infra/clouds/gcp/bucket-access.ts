import * as gcp from "@pulumi/gcp";
import * as pulumi from "@pulumi/pulumi";
import type { Bucket } from "./bucket.ts";

export interface BucketAccessArgs {
  readonly bucket: Bucket;
  /** IAM member, such as `serviceAccount:name@project.iam.gserviceaccount.com`. */
  readonly member: pulumi.Input<string>;
}

/** Read, write, list and delete objects: what the deployment guide names, on the tables' prefix alone. */
export const objectRole = "roles/storage.objectAdmin";

/** Lets one identity at the tables. A grant to a member, which leaves everybody else's grants as they are. */
export class BucketAccess extends pulumi.ComponentResource {
  constructor(name: string, args: BucketAccessArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:gcp:BucketAccess", name, {}, opts);
    const { bucketName, folder } = args.bucket;
    const grant = { bucket: bucketName, role: objectRole, member: args.member };
    if (folder === undefined) {
      new gcp.storage.BucketIAMMember(name, grant, { parent: this });
    } else {
      new gcp.storage.ManagedFolderIamMember(name, { ...grant, managedFolder: folder }, { parent: this });
    }
    this.registerOutputs({});
  }
}
