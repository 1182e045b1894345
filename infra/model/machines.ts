import type { Amount } from "./fit.ts";
import { GiB } from "./quantity.ts";

/** The size of a machine type that a pool can name. */
export interface Machine {
  readonly name: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly gpus: number;
  readonly architecture: "x86_64" | "arm64";
}

/** The machine types of one cloud. */
export interface MachineCatalogue {
  /** Every machine type whose name is listed. */
  readonly machines: readonly Machine[];
  /** The listed types that an error message suggests: current ones that every larger region has. */
  readonly suggested: readonly Machine[];
  /** The machine type of that name, or undefined when its size is unknown. */
  readonly find: (name: string) => Machine | undefined;
  /** What pods can request on one node of that type. */
  readonly allocatable: (machine: Machine) => Amount;
  /** Bytes of local disk that pods can request on a node with a boot disk of that size. */
  readonly allocatableDisk: (diskGiB: number) => number;
}

export interface Family {
  readonly gibPerCpu: number;
  readonly architecture: Machine["architecture"];
}

/** Families of x86_64 machines with that memory, by the names in a space-separated list. */
export const x86 = (names: string, gibPerCpu: number) => families(names, { gibPerCpu, architecture: "x86_64" });
/** The same for arm64. */
export const arm = (names: string, gibPerCpu: number) => families(names, { gibPerCpu, architecture: "arm64" });

function families(names: string, family: Family): [string, Family][] {
  return names.split(" ").map((name) => [name, family]);
}

export function sized(name: string, cpus: number, { gibPerCpu, architecture }: Family): Machine {
  return { name, cpus, memoryBytes: cpus * gibPerCpu * GiB, gpus: 0, architecture };
}

/** Machines from CPUs, GiB and GPUs by name. */
export function gpuMachines(table: Readonly<Record<string, readonly [number, number, number]>>): Machine[] {
  return Object.entries(table).map(([name, [cpus, gib, gpus]]) => ({
    name,
    cpus,
    memoryBytes: gib * GiB,
    gpus,
    architecture: "x86_64",
  }));
}
