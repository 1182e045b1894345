/** Holds the findings of the scanners against the accepted ones: a finding that is not accepted is a fault, and so is the reverse. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { goProgram } from "../../../tools/parts/go.ts";
import { pythonWith } from "../../../tools/parts/python.ts";
import { type Accepted, accepted } from "./accepted.ts";
import {
  checkov,
  type Finding,
  type KubernetesObject,
  kubeLinter,
  kubeScore,
  type Posture,
  type Scan,
  type Scanner,
  writePosture,
} from "./findings.ts";

const run = promisify(execFile);

export interface Judgement {
  readonly what: string;
  readonly faults: readonly string[];
}
export interface Skipped {
  readonly skipped: string;
}

type Log = (line: string) => void;
type Installed =
  | { readonly scan: Scan; readonly missing?: never }
  | { readonly missing: string; readonly scan?: never };

/** Built from its Go module, or else the one on PATH. */
async function fromGo(module: string, version: string, scan: (program: string) => Scan, log: Log): Promise<Installed> {
  const { program, missing } = await goProgram(module, version, log);
  if (program !== undefined) return { scan: scan(program) };
  const name = module.split("/").at(-1) ?? module;
  const onPath = await run(name, ["version"]).catch(() => undefined);
  if (onPath === undefined) return { missing };
  log(`${missing}; ${name} on PATH (${onPath.stdout.trim()}) takes its place`);
  return { scan: scan(name) };
}

const install: Readonly<Record<Scanner, (log: Log) => Promise<Installed>>> = {
  "kube-score": (log) => fromGo("github.com/zegl/kube-score/cmd/kube-score", "v1.20.0", kubeScore, log),
  "kube-linter": (log) => fromGo("golang.stackrox.io/kube-linter/cmd/kube-linter", "v0.7.6", kubeLinter, log),
  checkov: async (log) => {
    const requirements = fileURLToPath(new URL("./requirements.txt", import.meta.url));
    const { python, missing } = await pythonWith(requirements, log);
    return python === undefined ? { missing } : { scan: checkov(python) };
  },
};

const covers = ({ scanner, check, objects }: Accepted, finding: Finding): boolean =>
  scanner === finding.scanner && check === finding.check && objects.includes(finding.object);

const describe = ({ check, object, message }: Finding): string => `${object}: ${check}: ${message}`;

async function scanned(scan: Scan, posture: Posture): Promise<readonly Finding[]> {
  const folder = await mkdtemp(join(tmpdir(), "lakehead-posture-"));
  try {
    await writePosture(folder, posture);
    return await scan(folder, posture);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Planted {
  readonly what: string;
  readonly scanners: readonly Scanner[];
  /** What the scanners must say of the changed posture, in the order of `scanners`. */
  readonly checks: readonly string[];
  readonly object: string;
  readonly stack: string;
  readonly change: (posture: Posture) => Posture;
}

interface Workload extends KubernetesObject {
  readonly spec: { template: { spec: { containers: { securityContext: Record<string, unknown> }[] } } };
}

/** The posture with a privileged container in the table service. */
function privileged(posture: Posture): Posture {
  const objects = structuredClone(posture.objects);
  const isService = ({ kind, metadata }: KubernetesObject) =>
    kind === "Deployment" && metadata.name === "table-service";
  const deployment = objects.find(isService) as Workload | undefined;
  const [container] = deployment?.spec.template.spec.containers ?? [];
  if (container === undefined) throw new Error("no container to plant a fault in");
  container.securityContext.privileged = true;
  return { ...posture, objects };
}

function withoutKeyRotation(posture: Posture): Posture {
  const template = structuredClone(posture.template);
  const key = template?.Resources.KeyTablesKey;
  if (template === undefined || key === undefined) throw new Error("no key to plant a fault in");
  key.Properties.EnableKeyRotation = false;
  return { ...posture, template };
}

function publicBucket(posture: Posture): Posture {
  const terraform = structuredClone(posture.terraform);
  const bucket = terraform?.resource.google_storage_bucket?.bucket;
  if (terraform === undefined || bucket === undefined) throw new Error("no bucket to plant a fault in");
  bucket.public_access_prevention = "inherited";
  return { ...posture, terraform };
}

/** Faults that are made on purpose: a scanner that misses its own proves nothing. */
const planted: readonly Planted[] = [
  {
    what: "a privileged container",
    scanners: ["kube-score", "kube-linter", "checkov"],
    checks: [
      "container-security-context-privileged: The container is privileged",
      "privileged-container",
      "CKV_K8S_16",
    ],
    object: "Deployment/table-service",
    stack: "aws-prod",
    change: privileged,
  },
  {
    what: "a KMS key without rotation",
    scanners: ["checkov"],
    checks: ["CKV_AWS_7"],
    object: "AWS::KMS::Key/KeyTablesKey",
    stack: "aws-prod",
    change: withoutKeyRotation,
  },
  {
    what: "a bucket of Google that may be made public",
    scanners: ["checkov"],
    checks: ["CKV_GCP_114"],
    object: "resource/bucket",
    stack: "gcp-prod",
    change: publicBucket,
  },
];

async function judgePlanted(
  scanner: Scanner,
  scan: Scan,
  stacks: Readonly<Record<string, Posture>>,
): Promise<Judgement[]> {
  const judgements: Judgement[] = [];
  for (const { what, scanners, checks, object, stack, change } of planted) {
    const check = checks[scanners.indexOf(scanner)];
    if (check === undefined) continue;
    const posture = stacks[stack];
    if (posture === undefined) throw new Error(`no stack ${stack} to plant faults in`);
    const findings = await scanned(scan, change(posture));
    const found = findings.some((finding) => finding.check === check && finding.object === object);
    judgements.push({ what: `${scanner} finds ${what}`, faults: found ? [] : [`no ${check} of ${object}`] });
  }
  return judgements;
}

/**
 * @param stacks every example stack by name; with an accepted finding of none of them, its entry is out of date
 */
export async function judgePosture(
  stacks: Readonly<Record<string, Posture>>,
  log: Log,
): Promise<(Judgement | Skipped)[]> {
  const results: (Judgement | Skipped)[] = [];
  for (const scanner of Object.keys(install) as Scanner[]) {
    const { scan, missing } = await install[scanner](log);
    if (scan === undefined) {
      results.push({ skipped: `${scanner}: ${missing}` });
      continue;
    }
    const seen: Finding[] = [];
    for (const [stack, posture] of Object.entries(stacks)) {
      const findings = await scanned(scan, posture);
      seen.push(...findings);
      const open = findings.filter((finding) => !accepted.some((entry) => covers(entry, finding)));
      results.push({
        what: `${stack}: ${posture.objects.length} objects by ${scanner}, ${findings.length - open.length} findings accepted`,
        faults: open.map(describe),
      });
    }
    const stale = accepted.flatMap((entry) =>
      entry.scanner !== scanner
        ? []
        : entry.objects
            .filter((object) => !seen.some((finding) => covers({ ...entry, objects: [object] }, finding)))
            .map((object) => `${object}: ${entry.check} no longer occurs: remove it from accepted.ts`),
    );
    results.push({ what: `every accepted finding of ${scanner} occurs`, faults: stale });
    results.push(...(await judgePlanted(scanner, scan, stacks)));
  }
  return results;
}
