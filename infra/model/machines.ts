import { GiB, MiB } from "./quantity.ts";

/** Sizes of the machine types that a pool may name. Both clouds build most names from a family and a size. */
export interface Machine {
  readonly name: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly gpus: number;
  readonly architecture: "x86_64" | "arm64";
}

interface Family {
  readonly gibPerCpu: number;
  readonly architecture: Machine["architecture"];
}

const x86 = (gibPerCpu: number): Family => ({ gibPerCpu, architecture: "x86_64" });
const arm = (gibPerCpu: number): Family => ({ gibPerCpu, architecture: "arm64" });
const each = (names: string, family: Family) => names.split(" ").map((name): [string, Family] => [name, family]);

/** Source: aws.amazon.com/ec2/instance-types; a test holds that the names are in the EC2 SDK's list. */
const awsFamilies: ReadonlyMap<string, Family> = new Map([
  ...each("c5a c6i c6a c7i c7i-flex c7a c8i c8i-flex c8a", x86(2)),
  ...each("m5 m5a m6i m6a m7i m7i-flex m7a m8i m8i-flex m8a", x86(4)),
  ...each("r5 r5a r6i r6a r7i r7a r8i r8a", x86(8)),
  ...each("c6g c7g c8g", arm(2)),
  ...each("m6g m7g m8g", arm(4)),
  ...each("r6g r7g r8g", arm(8)),
]);

const awsSizes: Readonly<Record<string, number>> = {
  large: 2,
  xlarge: 4,
  "2xlarge": 8,
  "4xlarge": 16,
  "8xlarge": 32,
  "12xlarge": 48,
  "16xlarge": 64,
};

/** CPUs, GiB, GPUs of the GPU instances that AL2023's NVIDIA image drives. */
const awsGpu: Readonly<Record<string, readonly [number, number, number]>> = {
  "g4dn.xlarge": [4, 16, 1],
  "g4dn.2xlarge": [8, 32, 1],
  "g4dn.4xlarge": [16, 64, 1],
  "g4dn.8xlarge": [32, 128, 1],
  "g4dn.12xlarge": [48, 192, 4],
  "g4dn.16xlarge": [64, 256, 1],
  "g5.xlarge": [4, 16, 1],
  "g5.2xlarge": [8, 32, 1],
  "g5.4xlarge": [16, 64, 1],
  "g5.8xlarge": [32, 128, 1],
  "g5.12xlarge": [48, 192, 4],
  "g5.16xlarge": [64, 256, 1],
  "g5.24xlarge": [96, 384, 4],
  "g5.48xlarge": [192, 768, 8],
  "g6.xlarge": [4, 16, 1],
  "g6.2xlarge": [8, 32, 1],
  "g6.4xlarge": [16, 64, 1],
  "g6.8xlarge": [32, 128, 1],
  "g6.12xlarge": [48, 192, 4],
  "g6.16xlarge": [64, 256, 1],
  "g6.24xlarge": [96, 384, 4],
  "g6.48xlarge": [192, 768, 8],
  "g6e.xlarge": [4, 32, 1],
  "g6e.2xlarge": [8, 64, 1],
  "g6e.4xlarge": [16, 128, 1],
  "g6e.8xlarge": [32, 256, 1],
  "g6e.12xlarge": [48, 384, 4],
  "g6e.16xlarge": [64, 512, 1],
  "g6e.24xlarge": [96, 768, 4],
  "g6e.48xlarge": [192, 1536, 8],
  "p4d.24xlarge": [96, 1152, 8],
  "p5.48xlarge": [192, 2048, 8],
};

/** Source: cloud.google.com/compute/docs/machine-resource. */
const gcpFamilies: ReadonlyMap<string, Family> = new Map([
  ...each("e2-highcpu n2-highcpu n2d-highcpu", x86(1)),
  ...each("c3-highcpu c4-highcpu n4-highcpu", x86(2)),
  ...each("e2-standard n2-standard n2d-standard c3-standard n4-standard", x86(4)),
  ...each("e2-highmem n2-highmem n2d-highmem c3-highmem n4-highmem", x86(8)),
  ...each("n1-standard", x86(3.75)),
  ...each("n1-highmem", x86(6.5)),
]);

const gcpSizes: Readonly<Record<string, readonly number[]>> = {
  e2: [2, 4, 8, 16, 32],
  n1: [1, 2, 4, 8, 16, 32, 64, 96],
  n2: [2, 4, 8, 16, 32, 48, 64, 80, 96, 128],
  n2d: [2, 4, 8, 16, 32, 48, 64, 80, 96, 128, 224],
  n4: [2, 4, 8, 16, 32, 48, 64, 80],
  c3: [4, 8, 22, 44, 88, 176],
  c4: [2, 4, 8, 16, 32, 48, 96, 192],
};

const gcpGpu: Readonly<Record<string, readonly [number, number, number]>> = {
  "g2-standard-4": [4, 16, 1],
  "g2-standard-8": [8, 32, 1],
  "g2-standard-12": [12, 48, 1],
  "g2-standard-16": [16, 64, 1],
  "g2-standard-24": [24, 96, 2],
  "g2-standard-32": [32, 128, 1],
  "g2-standard-48": [48, 192, 4],
  "g2-standard-96": [96, 384, 8],
  "a2-highgpu-1g": [12, 85, 1],
  "a2-highgpu-2g": [24, 170, 2],
  "a2-highgpu-4g": [48, 340, 4],
  "a2-highgpu-8g": [96, 680, 8],
  "a3-highgpu-8g": [208, 1872, 8],
};

function gpuMachines(table: Readonly<Record<string, readonly [number, number, number]>>): Machine[] {
  return Object.entries(table).map(([name, [cpus, gib, gpus]]) => ({
    name,
    cpus,
    memoryBytes: gib * GiB,
    gpus,
    architecture: "x86_64",
  }));
}

function sized(name: string, cpus: number, { gibPerCpu, architecture }: Family): Machine {
  return { name, cpus, memoryBytes: cpus * gibPerCpu * GiB, gpus: 0, architecture };
}

/** Every machine that is known by cloud and name. */
export const machines: Readonly<Record<"aws" | "gcp", ReadonlyMap<string, Machine>>> = {
  aws: byName([
    ...[...awsFamilies].flatMap(([family, facts]) =>
      Object.entries(awsSizes).map(([size, cpus]) => sized(`${family}.${size}`, cpus, facts)),
    ),
    ...gpuMachines(awsGpu),
  ]),
  gcp: byName([
    ...[...gcpFamilies].flatMap(([family, facts]) =>
      (gcpSizes[family.split("-")[0] ?? ""] ?? []).map((cpus) => sized(`${family}-${cpus}`, cpus, facts)),
    ),
    ...gpuMachines(gcpGpu),
  ]),
};

function byName(list: readonly Machine[]): ReadonlyMap<string, Machine> {
  return new Map(list.map((machine) => [machine.name, machine]));
}

/** The machine of that name, or undefined. Google's custom types carry their size in the name. */
export function findMachine(cloud: "aws" | "gcp", name: string): Machine | undefined {
  const known = machines[cloud].get(name);
  if (known !== undefined || cloud === "aws") return known;
  const custom = /^(?:(?:n1|n2|n2d|n4|e2)-)?custom-(\d+)-(\d+)(?:-ext)?$/.exec(name);
  if (custom === null) return undefined;
  return { name, cpus: Number(custom[1]), memoryBytes: Number(custom[2]) * MiB, gpus: 0, architecture: "x86_64" };
}

/** GPUs of one node as GKE's API wants them named. */
export interface Accelerator {
  readonly type: string;
  readonly count: number;
}

const acceleratorTypes: readonly (readonly [RegExp, string])[] = [
  [/^g2-/, "nvidia-l4"],
  [/^a2-highgpu-/, "nvidia-tesla-a100"],
  [/^a3-highgpu-/, "nvidia-h100-80gb"],
];

/**
 * The accelerator of a Google machine type: what is given, or what the type has built in, which the API wants to be
 * named all the same. Undefined for a machine without GPU.
 */
export function acceleratorOf(machineType: string, given?: Accelerator): Accelerator | undefined {
  if (given !== undefined) return given;
  const type = acceleratorTypes.find(([pattern]) => pattern.test(machineType))?.[1];
  const count = findMachine("gcp", machineType)?.gpus ?? 0;
  return type === undefined || count === 0 ? undefined : { type, count };
}
