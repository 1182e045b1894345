import { evictionThreshold, reservedCpus, tiered } from "../../model/fit.ts";
import { type Family, gpuMachines, type Machine, type MachineCatalogue, sized, x86 } from "../../model/machines.ts";
import { GiB, MiB } from "../../model/quantity.ts";

/** Source: cloud.google.com/compute/docs/machine-resource */
const families: readonly [string, Family][] = [
  ...x86("e2-highcpu n2-highcpu n2d-highcpu", 1),
  ...x86("c3-highcpu c4-highcpu n4-highcpu", 2),
  ...x86("e2-standard n2-standard n2d-standard c3-standard n4-standard", 4),
  ...x86("e2-highmem n2-highmem n2d-highmem c3-highmem n4-highmem", 8),
  ...x86("n1-standard", 3.75),
  ...x86("n1-highmem", 6.5),
];

const sizes: Readonly<Record<string, readonly number[]>> = {
  e2: [2, 4, 8, 16, 32],
  n1: [1, 2, 4, 8, 16, 32, 64, 96],
  n2: [2, 4, 8, 16, 32, 48, 64, 80, 96, 128],
  n2d: [2, 4, 8, 16, 32, 48, 64, 80, 96, 128, 224],
  n4: [2, 4, 8, 16, 32, 48, 64, 80],
  c3: [4, 8, 22, 44, 88, 176],
  c4: [2, 4, 8, 16, 32, 48, 96, 192],
};

/** CPUs, GiB, GPUs. */
const gpuTypes: Readonly<Record<string, readonly [number, number, number]>> = {
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

/** Requests of the DaemonSets anetd, gke-metadata-server, fluentbit, gke-metrics-agent, pdcsi-node and the Prometheus collector, rounded up. */
const daemonSets = { cpus: 0.45, memoryBytes: 700 * MiB };

/** GKE reserves a share of each slice of the machine's memory. */
function allocatable({ cpus, memoryBytes, gpus }: Machine) {
  const reserved = tiered(memoryBytes, [
    [4 * GiB, 0.25],
    [4 * GiB, 0.2],
    [8 * GiB, 0.1],
    [112 * GiB, 0.06],
    [Number.POSITIVE_INFINITY, 0.02],
  ]);
  return {
    cpus: cpus - reservedCpus(cpus) - daemonSets.cpus,
    memoryBytes: memoryBytes - reserved - evictionThreshold - daemonSets.memoryBytes,
    gpus,
  };
}

const machines: readonly Machine[] = [
  ...families.flatMap(([family, facts]) =>
    (sizes[family.split("-")[0] ?? ""] ?? []).map((cpus) => sized(`${family}-${cpus}`, cpus, facts)),
  ),
  ...gpuMachines(gpuTypes),
];
const byName = new Map(machines.map((machine) => [machine.name, machine]));

/** A custom machine type has its size in its name: CPUs, then MiB. */
function customMachine(name: string): Machine | undefined {
  const match = /^(?:(?:n1|n2|n2d|n4|e2)-)?custom-(\d+)-(\d+)(?:-ext)?$/.exec(name);
  if (match === null) return undefined;
  return { name, cpus: Number(match[1]), memoryBytes: Number(match[2]) * MiB, gpus: 0, architecture: "x86_64" };
}

export const gcpMachines: MachineCatalogue = {
  machines,
  suggested: machines.filter(({ name }) => /^(n2-standard|n2-highmem|g2-standard|a2-highgpu|a3-highgpu)-/.test(name)),
  find: (name) => byName.get(name) ?? customMachine(name),
  allocatable,
};

/** GPUs of one node, as GKE's API names them. */
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
 * The accelerator of a machine type: the configured one, or the one that the type has built in. The API requires both
 * kinds to be named. Undefined for a machine without GPU, and where its type is unknown.
 */
export function acceleratorOf(machineType: string, configured?: Accelerator): Accelerator | undefined {
  if (configured !== undefined) return configured;
  const type = acceleratorTypes.find(([pattern]) => pattern.test(machineType))?.[1];
  const count = gcpMachines.find(machineType)?.gpus ?? 0;
  return type === undefined || count === 0 ? undefined : { type, count };
}
