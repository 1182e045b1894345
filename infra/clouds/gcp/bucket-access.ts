import * as gcp from "@pulumi/gcp";
import * as pulumi from "@pulumi/pulumi";
import type { Bucket } from "./bucket.ts";

export interface BucketAccessArgs {
  readonly bucket: Bucket;
  /** IAM member, such as `serviceAccount:name@project.iam.gserviceaccount.com`. */
  readonly member: pulumi.Input<string>;
}

/** Read, write, list and delete objects: the role in the runtime's deployment guide, on the tables' prefix only. */
export const objectRole = "roles/storage.objectAdmin";

/** One identity's access to the tables. A grant to a member does not change the grants of others. */
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
