/** What scanners of other makers say of the objects of a stack, in one form. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Template } from "../cloudformation.ts";
import type { TerraformFile } from "../terraform.ts";

const run = promisify(execFile);

export type Scanner = "kube-score" | "kube-linter" | "checkov";

export interface Finding {
  readonly scanner: Scanner;
  /** Name of the check, and its message where one check has several. */
  readonly check: string;
  /** `<kind>/<name>`, such as `Deployment/table-service`. */
  readonly object: string;
  /** What the scanner says. */
  readonly message: string;
}

/** A Kubernetes object as the API server gets it. */
export interface KubernetesObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** What a stack gives to the scanners. */
export interface Posture {
  readonly objects: readonly KubernetesObject[];
  /** Its AWS resources; undefined on another cloud. */
  readonly template?: Template | undefined;
  /** Its Google Cloud resources; undefined on another cloud. */
  readonly terraform?: TerraformFile | undefined;
  /** Kubernetes minor version, such as 1.35. */
  readonly kubernetesVersion: string;
}

/** Judges what a folder holds that `writePosture` filled. */
export type Scan = (folder: string, posture: Posture) => Promise<readonly Finding[]>;

const files = { objects: "objects.yaml", template: "resources.template.json", terraform: "resources.tf.json" } as const;

/** JSON is YAML, and quotes the label values that YAML 1.1 reads as booleans. */
export async function writePosture(folder: string, { objects, template, terraform }: Posture): Promise<void> {
  await writeFile(
    join(folder, files.objects),
    objects.map((object) => JSON.stringify(object, null, 1)).join("\n---\n"),
  );
  if (template !== undefined) await writeFile(join(folder, files.template), JSON.stringify(template, null, 1));
  if (terraform !== undefined) await writeFile(join(folder, files.terraform), JSON.stringify(terraform, null, 1));
}

/**
 * The JSON that a scanner prints. All of them exit with a code other than 0 when they find something.
 * @throws Error with the scanner's own words when it prints none
 */
async function json(program: string, args: readonly string[]): Promise<unknown> {
  const { stdout, stderr } = await run(program, [...args], { maxBuffer: 64 * 2 ** 20 }).catch(
    (error: Error & { stdout?: string; stderr?: string }) => ({
      stdout: error.stdout ?? "",
      stderr: error.stderr ?? error.message,
    }),
  );
  if (!/^[{[]/.test(stdout.trimStart())) throw new Error(`${basename(program)} printed no JSON: ${stderr || stdout}`);
  return JSON.parse(stdout);
}

interface Score {
  readonly type_meta: { readonly kind: string };
  readonly object_meta: { readonly name: string };
  readonly checks: readonly {
    readonly check: { readonly id: string };
    readonly grade: number;
    readonly skipped: boolean;
    readonly comments: readonly { readonly path: string; readonly summary: string }[] | null;
  }[];
}

/** The grade of a check without objection; 5 is a warning, 1 is critical, 7 is nearly good. */
const allGood = 10;

export const kubeScore =
  (program: string): Scan =>
  async (folder, { kubernetesVersion }) => {
    const args = ["score", "--output-format", "json", "--kubernetes-version", `v${kubernetesVersion}`];
    const scores = (await json(program, [...args, join(folder, files.objects)])) as Score[];
    if (scores.length === 0) throw new Error("kube-score judged no object");
    return scores.flatMap(({ type_meta: { kind }, object_meta: { name }, checks }) =>
      checks
        .filter(({ grade, skipped }) => !skipped && grade < allGood)
        .flatMap(({ check: { id }, comments }): Finding[] =>
          (comments ?? []).map(({ path, summary }) => ({
            scanner: "kube-score",
            check: `${id}: ${summary}`,
            object: `${kind}/${name}`,
            message: path,
          })),
        ),
    );
  };

interface Lint {
  readonly Checks: readonly unknown[];
  readonly Reports:
    | readonly {
        readonly Check: string;
        readonly Diagnostic: { readonly Message: string };
        readonly Object: {
          readonly K8sObject: { readonly Name: string; readonly GroupVersionKind: { readonly Kind: string } };
        };
      }[]
    | null;
}

export const kubeLinter =
  (program: string): Scan =>
  async (folder) => {
    const args = ["lint", "--format", "json", "--add-all-built-in", join(folder, files.objects)];
    const { Checks, Reports } = (await json(program, args)) as Lint;
    if (Checks.length === 0) throw new Error("kube-linter has no checks");
    return (Reports ?? []).map(({ Check, Diagnostic, Object: { K8sObject } }) => ({
      scanner: "kube-linter",
      check: Check,
      object: `${K8sObject.GroupVersionKind.Kind}/${K8sObject.Name}`,
      message: Diagnostic.Message,
    }));
  };

interface Report {
  readonly check_type: "kubernetes" | "cloudformation" | "terraform_json";
  readonly results: {
    readonly failed_checks: readonly {
      readonly check_id: string;
      readonly check_name: string;
      readonly resource: string;
    }[];
    readonly parsing_errors: readonly string[];
  };
  readonly summary: { readonly passed: number };
}

/** `Deployment.lancedb.table-service`, or `AWS::S3::Bucket.BucketTables` in a template, `resource.cluster` in Terraform's JSON. */
const objectOf = (resource: string, type: Report["check_type"]): string => {
  const [kind = "", ...rest] = resource.split(".");
  return `${kind}/${rest.slice(type === "kubernetes" ? 1 : 0).join(".")}`;
};

/** @param python an interpreter whose environment has checkov */
export const checkov =
  (python: string): Scan =>
  async (folder, { template, terraform }) => {
    const frameworks = [
      "kubernetes",
      ...(template === undefined ? [] : ["cloudformation"]),
      ...(terraform === undefined ? [] : ["terraform_json"]),
    ];
    // Without --skip-download it asks its maker's site for its guidelines.
    const args = [
      "--directory",
      folder,
      "--framework",
      ...frameworks,
      "--output",
      "json",
      "--compact",
      "--skip-download",
    ];
    const printed = (await json(join(dirname(python), "checkov"), args)) as Report | Report[];
    const reports = [printed].flat();
    const judged = reports.filter(({ summary }) => summary?.passed > 0).map(({ check_type }) => check_type);
    if (judged.length < frameworks.length) throw new Error(`checkov judged ${judged.join() || "nothing"} in ${folder}`);
    const unread = reports.flatMap(({ results }) => results.parsing_errors);
    if (unread.length > 0) throw new Error(`checkov cannot read ${unread.join(", ")}`);
    return reports.flatMap(({ check_type: type, results }) =>
      results.failed_checks.map(({ check_id: check, check_name: message, resource }) => ({
        scanner: "checkov",
        check,
        object: objectOf(resource, type),
        message,
      })),
    );
  };
