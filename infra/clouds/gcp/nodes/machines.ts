import { evictionThreshold, reservedCpus, tiered } from "../../../model/fit.ts";
import { gpuMachines, type Machine, type MachineCatalogue } from "../../../model/machines.ts";
import { GiB, MiB } from "../../../model/quantity.ts";

/** A machine series: GiB for each CPU by class, and the numbers of CPUs that it offers. */
interface Series {
  readonly gibPerCpu: Readonly<Record<string, number>>;
  readonly cpus: readonly number[];
  /** The largest number of CPUs of a class that ends earlier than the others. */
  readonly upTo?: Readonly<Record<string, number>>;
  /** Memory is rounded down to whole GiB. */
  readonly wholeGiB?: boolean;
  readonly architecture?: Machine["architecture"];
}

/** Source: cloud.google.com/compute/docs/general-purpose-machines */
const series: Readonly<Record<string, Series>> = {
  c3: { gibPerCpu: { highcpu: 2, standard: 4, highmem: 8 }, cpus: [4, 8, 22, 44, 88, 176] },
  c3d: { gibPerCpu: { standard: 4, highmem: 8 }, cpus: [4, 8, 16, 30, 60, 90, 180, 360] },
  c4: {
    gibPerCpu: { highcpu: 2, standard: 3.75, highmem: 7.75 },
    cpus: [2, 4, 8, 16, 24, 32, 48, 96, 144, 192, 288],
    wholeGiB: true,
  },
  c4a: {
    gibPerCpu: { highcpu: 2, standard: 4, highmem: 8 },
    cpus: [1, 2, 4, 8, 16, 32, 48, 64, 72],
    architecture: "arm64",
  },
  c4d: {
    gibPerCpu: { highcpu: 1.875, standard: 3.875, highmem: 7.875 },
    cpus: [2, 4, 8, 16, 32, 48, 64, 96, 192, 384],
    wholeGiB: true,
  },
  e2: { gibPerCpu: { highcpu: 1, standard: 4, highmem: 8 }, cpus: [2, 4, 8, 16, 32], upTo: { highmem: 16 } },
  n1: { gibPerCpu: { standard: 3.75, highmem: 6.5 }, cpus: [2, 4, 8, 16, 32, 64, 96] },
  n2: {
    gibPerCpu: { highcpu: 1, standard: 4, highmem: 8 },
    cpus: [2, 4, 8, 16, 32, 48, 64, 80, 96, 128],
    upTo: { highcpu: 96 },
  },
  n2d: {
    gibPerCpu: { highcpu: 1, standard: 4, highmem: 8 },
    cpus: [2, 4, 8, 16, 32, 48, 64, 80, 96, 128, 224],
    upTo: { highmem: 96 },
  },
  n4: { gibPerCpu: { highcpu: 2, standard: 4, highmem: 8 }, cpus: [2, 4, 8, 16, 32, 48, 64, 80] },
  n4a: {
    gibPerCpu: { highcpu: 2, standard: 4, highmem: 8 },
    cpus: [1, 2, 4, 8, 16, 32, 48, 64],
    architecture: "arm64",
  },
  n4d: { gibPerCpu: { highcpu: 2, standard: 4, highmem: 8 }, cpus: [2, 4, 8, 16, 32, 48, 64, 80, 96] },
  t2a: { gibPerCpu: { standard: 4 }, cpus: [1, 2, 4, 8, 16, 32, 48], architecture: "arm64" },
};

/** Series that boot from Hyperdisk alone. Source: the table of disk types of each series, as above and below. */
export const hyperdiskOnly = /^(c4|c4a|c4d|n4|n4a|n4d|g4|a3-ultragpu|a4|a4x)-/;

/** CPUs, GiB, GPUs. Source: cloud.google.com/compute/docs/accelerator-optimized-machines */
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
  "a2-megagpu-16g": [96, 1360, 16],
  "a2-ultragpu-1g": [12, 170, 1],
  "a2-ultragpu-2g": [24, 340, 2],
  "a2-ultragpu-4g": [48, 680, 4],
  "a2-ultragpu-8g": [96, 1360, 8],
  "a3-highgpu-1g": [26, 234, 1],
  "a3-highgpu-2g": [52, 468, 2],
  "a3-highgpu-4g": [104, 936, 4],
  "a3-highgpu-8g": [208, 1872, 8],
  "a3-megagpu-8g": [208, 1872, 8],
  "a3-ultragpu-8g": [224, 2952, 8],
  "a4-highgpu-8g": [224, 3968, 8],
  "g4-standard-48": [48, 180, 1],
  "g4-standard-96": [96, 360, 2],
  "g4-standard-192": [192, 720, 4],
  "g4-standard-384": [384, 1440, 8],
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

/**
 * The kubelet keeps 10 % of the boot disk free, and GKE reserves the least of half of it, 6 GiB and 35 %, and 100 GiB. Six of 100
 * GiB are the system's own partitions. Source: cloud.google.com/kubernetes-engine/docs/concepts/plan-node-sizes
 */
function allocatableDisk(diskGiB: number): number {
  const size = diskGiB * 0.94;
  return (size * 0.9 - Math.min(size * 0.5, 6 + size * 0.35, 100)) * GiB;
}

const machines: readonly Machine[] = [
  ...Object.entries(series).flatMap(([name, { gibPerCpu, cpus, upTo, wholeGiB, architecture = "x86_64" }]) =>
    Object.entries(gibPerCpu).flatMap(([kind, ratio]) =>
      cpus
        .filter((number) => number <= (upTo?.[kind] ?? number))
        .map((number) => ({
          name: `${name}-${kind}-${number}`,
          cpus: number,
          memoryBytes: (wholeGiB ? Math.floor(number * ratio) : number * ratio) * GiB,
          gpus: 0,
          architecture,
        })),
    ),
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
  allocatableDisk,
};

/** GPUs of one node, as GKE's API names them. */
export interface Accelerator {
  readonly type: string;
  readonly count: number;
}

const acceleratorTypes: readonly (readonly [RegExp, string])[] = [
  [/^g2-/, "nvidia-l4"],
  [/^g4-/, "nvidia-rtx-pro-6000"],
  [/^a2-(highgpu|megagpu)-/, "nvidia-tesla-a100"],
  [/^a2-ultragpu-/, "nvidia-a100-80gb"],
  [/^a3-highgpu-/, "nvidia-h100-80gb"],
  [/^a3-megagpu-/, "nvidia-h100-mega-80gb"],
  [/^a3-ultragpu-/, "nvidia-h200-141gb"],
  [/^a4-highgpu-/, "nvidia-b200"],
];

/** GPUs that attach to N1 machines, by their possible number on one node. Source: cloud.google.com/compute/docs/gpus */
export const attachableGpus: Readonly<Record<string, readonly number[]>> = {
  "nvidia-tesla-t4": [1, 2, 4],
  "nvidia-tesla-p4": [1, 2, 4],
  "nvidia-tesla-p100": [1, 2, 4],
  "nvidia-tesla-v100": [1, 2, 4, 8],
};

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
