/** Whether the names that a stack gives are free, or the stack's own already. */

import { DescribeRepositoriesCommand, ECRClient, ListTagsForResourceCommand } from "@aws-sdk/client-ecr";
import { DescribeClusterCommand, EKSClient } from "@aws-sdk/client-eks";
import { GetRoleCommand, IAMClient } from "@aws-sdk/client-iam";
import { attempt, type Line } from "../../../check-line.ts";
import { buildsServiceImage } from "../../../model/service-image.ts";
import { checkGivenBucket, checkName, type Named, type OwnTags, type Tags } from "../../taken-name.ts";
import { accessLogsBucket } from "../exposure/exposure.ts";
import { cachedRepositories, dockerHubPrefix } from "../images/docker-hub-names.ts";
import type { AwsConfig } from "../schema.ts";
import { settings, signedGet, unlessMissing } from "./client.ts";

export const ownTags = ({ tags }: AwsConfig, stack: string): OwnTags => ({
  stack: tags.stack ?? stack,
  "managed-by": tags["managed-by"] ?? "pulumi",
});

export const tagsOf = (
  tags: readonly { Key?: string | undefined; Value?: string | undefined }[] | undefined,
): Record<string, string> => Object.fromEntries((tags ?? []).map(({ Key = "", Value = "" }) => [Key, Value]));

interface Readable extends Named {
  /** Its tags; undefined when nothing has the name. */
  readonly read: () => Promise<Tags | undefined>;
}

/** A bucket's tags; undefined when no account has the name. */
async function bucketTags(region: string, name: string): Promise<Tags | undefined> {
  const { status, text, code } = await signedGet({ service: "s3", region, path: `/${name}`, query: { tagging: "" } });
  if (code === "NoSuchBucket") return undefined;
  // Names are unique in all of S3. A deployer can read its own bucket, so a denial or another region means that another account has it.
  if (code === "NoSuchTagSet" || status === 301 || status === 403) return {};
  if (status !== 200) throw new Error(code ?? `status ${status}`);
  return Object.fromEntries(
    [...text.matchAll(/<Key>([^<]*)<\/Key>\s*<Value>([^<]*)<\/Value>/g)].map(([, key = "", value = ""]) => [
      key,
      value,
    ]),
  );
}

function named(config: AwsConfig): readonly Readable[] {
  const { region, clusterName, client, bucket, tableService, dockerHub } = config;
  const ecr = new ECRClient(settings(region));
  const bucketNamed = (name: string, key = "bucket.name"): Readable => ({
    what: "bucket",
    key,
    remedyKey: "bucket.name",
    name,
    byHand: `aws s3api get-bucket-tagging --bucket ${name}`,
    read: () => bucketTags(region, name),
  });
  const repository = (key: string, name: string): Readable => ({
    what: "repository",
    key,
    remedyKey: "clusterName",
    name,
    byHand: `aws ecr describe-repositories --region ${region} --repository-names ${name}`,
    read: async () => {
      const found = await unlessMissing("RepositoryNotFoundException", () =>
        ecr.send(new DescribeRepositoriesCommand({ repositoryNames: [name] })),
      );
      const resourceArn = found?.repositories?.[0]?.repositoryArn;
      if (resourceArn === undefined) return undefined;
      return tagsOf((await ecr.send(new ListTagsForResourceCommand({ resourceArn }))).tags);
    },
  });
  const { exposure } = tableService;
  const logs = tableService.enabled && exposure.mode === "public" && exposure.accessLogs;
  return [
    {
      what: "cluster",
      key: "clusterName",
      name: clusterName,
      byHand: `aws eks describe-cluster --region ${region} --name ${clusterName}`,
      read: async () => {
        const found = await unlessMissing("ResourceNotFoundException", () =>
          new EKSClient(settings(region)).send(new DescribeClusterCommand({ name: clusterName })),
        );
        return found && (found.cluster?.tags ?? {});
      },
    },
    {
      what: "role",
      key: "client.roleName",
      name: client.roleName,
      byHand: `aws iam get-role --role-name ${client.roleName}`,
      read: async () => {
        const found = await unlessMissing("NoSuchEntityException", () =>
          new IAMClient(settings(region)).send(new GetRoleCommand({ RoleName: client.roleName })),
        );
        return found && tagsOf(found.Role?.Tags);
      },
    },
    ...(bucket.create ? [bucketNamed(bucket.name)] : []),
    ...(logs ? [bucketNamed(accessLogsBucket(bucket.name), "tableService.exposure.accessLogs")] : []),
    ...(buildsServiceImage(config) ? [repository("tableService", `${clusterName}/table-service`)] : []),
    ...(dockerHub.cache
      ? cachedRepositories(config).map((upstream) =>
          repository("dockerHub.cache", `${dockerHubPrefix(clusterName)}/${upstream}`),
        )
      : []),
  ];
}

/** A line for each name. */
export async function nameLines(config: AwsConfig, own: OwnTags): Promise<readonly Line[]> {
  const { bucket, region } = config;
  const lines = await Promise.all(named(config).map(async (entry) => checkName(entry, own, await attempt(entry.read))));
  if (bucket.create) return lines;
  const found = await attempt(() => bucketTags(region, bucket.name));
  return [...lines, checkGivenBucket(bucket.name, `aws s3api head-bucket --bucket ${bucket.name}`, found)];
}
