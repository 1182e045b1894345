import { z } from "zod";
import { parseCidr } from "../model/cidr.ts";
import { parseMemory, quantityPattern } from "../model/quantity.ts";

/** Field types that several parts of the configuration share. Each message says what to write. */

/** A switch. */
export const flag = (otherwise: boolean, description: string) => z.boolean().default(otherwise).describe(description);

/** A text, and what to write. */
export const form = (pattern: RegExp, error: string) => z.string().regex(pattern, { error });

/** Keys that all have a default. */
export const group = <const Shape extends z.ZodRawShape>(description: string, shape: Shape) => {
  const keys = z.strictObject(shape);
  return keys.prefault({} as z.input<typeof keys>).describe(description);
};

const dns1123 = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;
const dns1035 = /^[a-z]([a-z0-9-]*[a-z0-9])?$/;

/** The name of a namespace or a service account. */
export const kubernetesName = (max = 63) =>
  z
    .string()
    .max(max, { error: `at most ${max} characters` })
    .regex(dns1123, { error: "lower-case letters, digits and inner hyphens only (DNS-1123 label)" });

/** A name from which KubeRay derives Service names, so it starts with a letter. */
export const serviceName = (max = 63) =>
  z
    .string()
    .max(max, { error: `at most ${max} characters` })
    .regex(dns1035, { error: "lower-case letters, digits and inner hyphens, starting with a letter (DNS-1035 label)" });

/** Memory as a Kubernetes quantity. A number without unit is an error: it could mean bytes or MiB. */
export const memory = z
  .string({
    error: (issue) =>
      typeof issue.input === "number"
        ? `a quantity with its unit, such as "${issue.input}${issue.input < 128 ? "Gi" : "Mi"}"`
        : "a Kubernetes quantity such as 8Gi",
  })
  .regex(quantityPattern, { error: "a Kubernetes quantity such as 8Gi (binary) or 8G (decimal)" })
  .refine((text) => !quantityPattern.test(text) || parseMemory(text) >= 64 * 2 ** 20, {
    error: "at least 64Mi; the unit is probably missing (Mi or Gi)",
  });

export const cpus = z
  .number({ error: "a number of CPUs such as 4 or 0.5" })
  .positive({ error: "more than 0 CPUs" })
  .max(1024, { error: "a number of CPUs, not millicpus" });

export const count = (min: number, max: number) =>
  z
    .number({ error: `a whole number from ${min} to ${max}` })
    .int({ error: `a whole number from ${min} to ${max}` })
    .min(min, { error: `at least ${min}` })
    .max(max, { error: `at most ${max}` });

export const cidr = z.string().refine((text) => parseCidr(text) !== undefined, {
  error: "an IPv4 network in CIDR form with no host bits set, such as 10.42.0.0/16",
});

/** `1.2` or `1.2.3`, without a leading v. */
export const version = z
  .string({ error: 'a version in quotes, such as "1.35": unquoted, YAML reads it as a number' })
  .regex(/^\d+\.\d+(\.\d+)?$/, { error: "a version such as 1.2.3, without a leading v" });

export const minorVersion = z
  .string({ error: 'a version in quotes, such as "1.35": unquoted, YAML reads it as a number' })
  .regex(/^\d+\.\d+$/, { error: "a minor version such as 1.35" });

/** A container image with a tag or a digest. */
export const image = form(
  /^[a-z0-9][a-z0-9._/:-]*(:[\w][\w.-]*|@sha256:[0-9a-f]{64})$/,
  "an image with a tag or a digest, such as registry.example.com/lakehead:0.2.0",
).refine((text) => !text.endsWith(":latest"), {
  error: "a fixed tag or a digest: latest changes",
});

/** The prefix of a node label: a DNS name. */
export const labelPrefix = z
  .string()
  .max(253, { error: "at most 253 characters" })
  .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/, {
    error: "a DNS name such as geneva.lancedb.com, without a slash",
  })
  .refine((text) => !/(^|\.)(kubernetes|k8s)\.io$/.test(text), {
    error: "a prefix of your own: kubernetes.io and k8s.io are reserved",
  });

/** A path inside a bucket, without slashes at its ends; empty for the whole bucket. */
export const prefix = form(
  /^([^/*?]+(\/[^/*?]+)*)?$/,
  "a path such as lance/prod, without a leading or trailing slash, * or ?",
).refine((text) => !text.split("/").some((part) => part === "." || part === ".."), {
  error: "a path such as lance/prod, without the parts . and ..",
});

export const httpsUrl = z.url({ protocol: /^https$/, error: "an https:// URL" });

/** The host of a public endpoint. */
export const hostname = form(/^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/, "a DNS name such as tables.example.com");

/** Where the tables are in a bucket, on every cloud. */
export const bucketPlace = {
  create: flag(true, "Create the bucket; false uses an existing one"),
  prefix: prefix.default("").describe("Path of the tables in the bucket; identities have no access outside it"),
};

/** How long a bucket keeps its objects, on every cloud. */
export const bucketRetention = {
  versioning: flag(true, "Keep overwritten and deleted objects for `noncurrentDays`"),
  noncurrentDays: count(1, 3650)
    .default(30)
    .describe("Days until an overwritten or deleted object is removed for good"),
  forceDestroy: flag(
    false,
    "A destroy deletes the bucket with its tables; with false it stops at a bucket that is not empty",
  ),
};
