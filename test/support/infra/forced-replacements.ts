/**
 * Which inputs force a replacement, from documents that others wrote: the Pulumi SDKs' comments, AWS's own SDK, the
 * schemas of the two providers, which the offline plan reads too. The stand-ins for the clouds use this; a test compares it with the
 * rest of the plan's table.
 */

import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { marked } from "../../../infra/offline-plan/replacements.ts";

const require = createRequire(import.meta.url);
const folderOf = (packageName: string): string => dirname(require.resolve(`${packageName}/package.json`));

/** The declaration file of a resource type in its Pulumi SDK. @throws Error when the SDK has no such type. */
export function declarationOf(type: string): string {
  const [pkg = "", module = "", name = ""] = type.split(":");
  // A package without modules has its resources at the top: docker-build:index:Image.
  const [area = "", file = ""] = module === "index" ? [".", name] : module.split("/");
  const folder = join(folderOf(`@pulumi/${pkg}`), area);
  // Some files spell abbreviations differently: iAMMember is declared in iammember.d.ts.
  const found = readdirSync(folder).find((path) => path.toLowerCase() === `${file}.d.ts`.toLowerCase());
  if (found === undefined) throw new Error(`@pulumi/${pkg} has no resource ${type}`);
  return readFileSync(join(folder, found), "utf8");
}

/** The part that declares the inputs. */
export const inputsOf = (type: string): string => declarationOf(type).split(/export interface \w+Args /)[1] ?? "";

/**
 * Sentences that say that any change of the input replaces the resource. Sentences with a condition ("If …") and
 * negations do not count.
 */
const statements: readonly RegExp[] = [
  /^(?:\*\*Warning:\*\* )?changing (?:this|the)\b[^.]*\bforces? (?:a new|recreation|resource recreation|the creation)/i,
  /^changing this (?:value )?will force (?:a new|recreation)/i,
  /^(?:the resource|it) must be recreated to modify/i,
  /^this field can be set only at resource creation time/i,
  /^the immutable /i,
];

/** Rule 1: the comment on the input contains such a sentence. */
function documented(type: string): string[] {
  return [...inputsOf(type).matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s+(\w+)\??:/g)].flatMap(
    ([, comment = "", name = ""]) => {
      const sentences = comment.replaceAll(/\s*\n\s*\* ?/g, " ").split(/(?<=[.!])\s+/);
      return sentences.some((sentence) => statements.some((one) => one.test(sentence.trim()))) ? [name] : [];
    },
  );
}

/** Rule 2: the identity that the SDK documents for an import consists of these inputs. */
function identifying(type: string): string[] {
  const required = /#### Required\n((?: \*.*\n)*?)(?: \* ####| \* Using)/.exec(declarationOf(type))?.[1] ?? "";
  const inputs = inputsOf(type);
  return [...required.matchAll(/\* \* `(\w+)`/g)].flatMap(([, name = ""]) =>
    new RegExp(`^ +${name}\\??:`, "m").test(inputs) ? [name] : [],
  );
}

interface Updates {
  readonly requests: readonly string[];
  /** Inputs that these requests carry under another name, or that the provider keeps to itself. */
  readonly otherwise: readonly string[];
}

/** The requests of the EKS API that update a resource. What none of them carries cannot change in place. */
const eksUpdates: Readonly<Record<string, Updates>> = {
  "aws:eks/accessEntry:AccessEntry": { requests: ["UpdateAccessEntryRequest"], otherwise: [] },
  "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": { requests: [], otherwise: [] },
  "aws:eks/addon:Addon": {
    requests: ["UpdateAddonRequest"],
    otherwise: ["preserve", "resolveConflictsOnCreate", "resolveConflictsOnUpdate"],
  },
  "aws:eks/cluster:Cluster": {
    requests: ["UpdateClusterConfigRequest", "UpdateClusterVersionRequest"],
    otherwise: ["defaultAddonsToRemoves", "enabledClusterLogTypes", "forceUpdateVersion", "vpcConfig"],
  },
  "aws:eks/nodeGroup:NodeGroup": {
    requests: ["UpdateNodegroupConfigRequest", "UpdateNodegroupVersionRequest"],
    otherwise: ["forceUpdateVersion"],
  },
  "aws:eks/podIdentityAssociation:PodIdentityAssociation": {
    requests: ["UpdatePodIdentityAssociationRequest"],
    otherwise: [],
  },
};

const fieldsOf = (interfaceText: string): string[] =>
  [...interfaceText.matchAll(/^ {4}(\w+)\??:/gm)].map(([, name = ""]) => name);

/** Rule 3: the name of an EKS resource, and every input that no update request carries. */
function notUpdatable(type: string): string[] {
  const updates = eksUpdates[type];
  if (updates === undefined) return [];
  const models = readFileSync(join(folderOf("@aws-sdk/client-eks"), "dist-types/models/models_0.d.ts"), "utf8");
  const identity = ["clusterName", "name", "nodegroupName", "addonName", "principalArn"];
  const carried = updates.requests.flatMap((request) => {
    const text = new RegExp(`^export interface ${request} \\{\\n([\\s\\S]*?)^\\}`, "m").exec(models)?.[1];
    if (text === undefined) throw new Error(`@aws-sdk/client-eks has no ${request}`);
    return fieldsOf(text).filter((field) => !identity.includes(field));
  });
  const updatable = new Set([...carried, ...updates.otherwise, "tags"].map((name) => name.toLowerCase()));
  return fieldsOf(inputsOf(type)).filter((name) => !updatable.has(name.toLowerCase()));
}

/** Rule 4: what no document on this machine says. `<source>: <inputs>`; files are those of the providers' repositories. */
export const elsewhere: Readonly<Record<string, readonly [source: string, ...paths: string[]]>> = {
  "aws:ecr/pullThroughCacheRule:PullThroughCacheRule": [
    "internal/service/ecr/pull_through_cache_rule.go of hashicorp/terraform-provider-aws",
    "upstreamRepositoryPrefix",
  ],
  "aws:secretsmanager/secretVersion:SecretVersion": [
    "internal/service/secretsmanager/secret_version.go of hashicorp/terraform-provider-aws",
    "secretStringWoVersion",
  ],
  "aws:cloudtrail/trail:Trail": [
    "internal/service/cloudtrail/cloudtrail.go of hashicorp/terraform-provider-aws",
    "name",
  ],
  "aws:s3/bucketReplicationConfig:BucketReplicationConfig": [
    "aws_s3_bucket_replication_configuration in the schemas of hashicorp/terraform-provider-aws 5.43.0",
    "bucket",
  ],
  "aws:wafv2/webAcl:WebAcl": [
    "internal/service/wafv2/web_acl.go of hashicorp/terraform-provider-aws",
    "name",
    "namePrefix",
    "scope",
  ],
  "aws:wafv2/webAclAssociation:WebAclAssociation": [
    "internal/service/wafv2/web_acl_association.go of hashicorp/terraform-provider-aws",
    "resourceArn",
    "webAclArn",
  ],
  "gcp:compute/serviceAttachment:ServiceAttachment": [
    "google-beta/services/compute/resource_compute_service_attachment.go of hashicorp/terraform-provider-google-beta",
    "domainNames",
    "name",
    "region",
  ],
  "gcp:projects/serviceIdentity:ServiceIdentity": [
    "google-beta/services/serviceusage/resource_project_service_identity.go of hashicorp/terraform-provider-google-beta",
    "service",
  ],
};

const isUnder = (path: string, property: string): boolean => path === property || path.startsWith(`${property}.`);

/** Paths of a type that rules 1 to 3 find, and those that the providers mark, sorted. */
export const documentedPaths = (type: string): string[] =>
  [...new Set([...documented(type), ...identifying(type), ...notUpdatable(type), ...(marked[type] ?? [])])].sort();

const known = new Map<string, readonly string[]>();

/**
 * Whether a change of this input replaces the resource.
 *
 * @param path - Without list indexes, such as `nodeConfig.spot`.
 */
export function forcesReplacement(type: string, path: string): boolean {
  const paths = known.get(type) ?? [...documentedPaths(type), ...(elsewhere[type]?.slice(1) ?? [])];
  known.set(type, paths);
  return paths.some((property) => isUnder(path, property));
}
