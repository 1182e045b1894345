import * as gcp from "@pulumi/gcp";
import * as pulumi from "@pulumi/pulumi";
import type { Bucket } from "./bucket.ts";

export interface BucketAccessArgs {
  readonly bucket: Bucket;
  /** IAM member, such as `serviceAccount:name@project.iam.gserviceaccount.com`. */
  readonly member: pulumi.Input<string>;
  readonly access: TableAccess;
  /** Managed folders of which it is then only these; the first one's grants have no suffix. */
  readonly folders?: readonly pulumi.Input<string>[] | undefined;
}

/** What an identity may do with the objects of the tables. */
export type TableAccess = "administer" | "read-write" | "read-and-tag" | "compute";

interface Grant {
  /** Of the resource, after the identity's; empty for the first. */
  readonly suffix: string;
  readonly role: string;
  readonly condition?: { readonly title: string; readonly expression: string };
}

/**
 * The roles of each access, on the tables' prefix only. `administer` is the role in the runtime's deployment guide. A tag
 * is one object of the format, below the table's folder; a condition needs uniform access of the bucket. `compute` reads all but the
 * service's own records, and adds files as the runner of Functions names them. A list is of the bucket, whose name has no such part.
 * Source: cloud.google.com/storage/docs/access-control/iam-roles, cloud.google.com/iam/docs/conditions-attribute-reference
 */
export const tableGrants: Readonly<Record<TableAccess, readonly Grant[]>> = {
  administer: [{ suffix: "", role: "roles/storage.objectAdmin" }],
  "read-write": [{ suffix: "", role: "roles/storage.objectUser" }],
  "read-and-tag": [
    { suffix: "", role: "roles/storage.objectViewer" },
    {
      suffix: "-tags",
      role: "roles/storage.objectUser",
      condition: { title: "tags", expression: 'resource.name.extract("/_refs/tags/{tag}") != ""' },
    },
  ],
  compute: [
    {
      suffix: "",
      role: "roles/storage.objectViewer",
      condition: { title: "no records", expression: 'resource.name.extract("/_lakehead/{path}") == ""' },
    },
    {
      suffix: "-columns",
      role: "roles/storage.objectCreator",
      condition: { title: "column files", expression: 'resource.name.extract("/data/fn-{file}") != ""' },
    },
  ],
};

/** One identity's access to the tables. A grant to a member does not change the grants of others. */
export class BucketAccess extends pulumi.ComponentResource {
  constructor(name: string, args: BucketAccessArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:gcp:BucketAccess", name, {}, opts);
    const { bucketName, folder } = args.bucket;
    for (const { suffix, ...role } of tableGrants[args.access]) {
      const grant = { bucket: bucketName, member: args.member, ...role };
      for (const [at, managedFolder] of (args.folders ?? [folder]).entries()) {
        const each = `${name}${suffix}${at === 0 ? "" : `-${at + 1}`}`;
        if (managedFolder === undefined) new gcp.storage.BucketIAMMember(each, grant, { parent: this });
        else new gcp.storage.ManagedFolderIamMember(each, { ...grant, managedFolder }, { parent: this });
      }
    }
  }
}
