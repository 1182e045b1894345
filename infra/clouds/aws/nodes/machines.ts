import { evictionThreshold, reservedCpus } from "../../../model/fit.ts";
import {
  arm,
  type Family,
  gpuMachines,
  type Machine,
  type MachineCatalogue,
  sized,
  x86,
} from "../../../model/machines.ts";
import { GiB, MiB } from "../../../model/quantity.ts";

/**
 * Source: aws.amazon.com/ec2/instance-types. A test compares the names with the EC2 SDK's list, and `npm run test:schemas` the
 * sizes with the answer of DescribeInstanceTypes that moto carries.
 */
const families: readonly [string, Family][] = [
  ...x86("c5a c6i c6a c7i c7i-flex c7a c8i c8i-flex c8a", 2),
  ...x86("m5 m5a m6i m6a m7i m7i-flex m7a m8i m8i-flex m8a", 4),
  ...x86("r5 r5a r6i r6a r7i r7a r8i r8a", 8),
  ...arm("c6g c7g c8g", 2),
  ...arm("m6g m7g m8g", 4),
  ...arm("r6g r7g r8g", 8),
];

const sizes: Readonly<Record<string, number>> = {
  large: 2,
  xlarge: 4,
  "2xlarge": 8,
  "4xlarge": 16,
  "8xlarge": 32,
  "12xlarge": 48,
  "16xlarge": 64,
};

/** By size: CPUs, then GPUs. */
const gpuSizes: Readonly<Record<string, readonly [number, number]>> = {
  xlarge: [4, 1],
  "2xlarge": [8, 1],
  "4xlarge": [16, 1],
  "8xlarge": [32, 1],
  "12xlarge": [48, 4],
  "16xlarge": [64, 1],
  "24xlarge": [96, 4],
  "48xlarge": [192, 8],
};

type GpuTypes = Readonly<Record<string, readonly [number, number, number]>>;

/** The sizes of a family with the same memory for each CPU, up to the `count` smallest. */
const gpuFamily = (family: string, giBPerCpu: number, count = Object.keys(gpuSizes).length): GpuTypes =>
  Object.fromEntries(
    Object.entries(gpuSizes)
      .slice(0, count)
      .map(([size, [cpus, gpus]]) => [`${family}.${size}`, [cpus, cpus * giBPerCpu, gpus]]),
  );

/** CPUs, GiB, GPUs of the GPU instances that AL2023's NVIDIA image supports. */
const gpuTypes: GpuTypes = {
  ...gpuFamily("g4dn", 4, 6),
  ...gpuFamily("g5", 4),
  ...gpuFamily("g6", 4),
  ...gpuFamily("g6e", 8),
  "g7e.2xlarge": [8, 64, 1],
  "g7e.4xlarge": [16, 128, 1],
  "g7e.8xlarge": [32, 256, 1],
  "g7e.12xlarge": [48, 512, 2],
  "g7e.24xlarge": [96, 1024, 4],
  "g7e.48xlarge": [192, 2048, 8],
  "gr6.4xlarge": [16, 128, 1],
  "gr6.8xlarge": [32, 256, 1],
  "p4d.24xlarge": [96, 1152, 8],
  "p4de.24xlarge": [96, 1152, 8],
  "p5.4xlarge": [16, 256, 1],
  "p5.48xlarge": [192, 2048, 8],
  "p5e.48xlarge": [192, 2048, 8],
  "p5en.48xlarge": [192, 2048, 8],
  "p6-b200.48xlarge": [192, 2048, 8],
  "p6-b300.48xlarge": [192, 4096, 8],
};

/** Types with accelerators of other makers than NVIDIA, for which Ray's GPU images and the device plugin have no driver. */
export const otherAccelerators = /^(g4ad|inf[12]|trn[12]n?|trn2u|dl1|dl2q|vt1)\./;

/** Requests of the DaemonSets aws-node (50m), kube-proxy (100m), ebs-csi-node (30m, 120Mi) and the device plugin, rounded up. */
const daemonSets = { cpus: 0.25, memoryBytes: 256 * MiB };

/**
 * EKS reserves 255 MiB and 11 MiB for each of 110 pods (250 from 30 CPUs on, as with prefix delegation). 7.5 % of a
 * virtual machine's memory never reaches Linux (Karpenter's default for VM_MEMORY_OVERHEAD_PERCENT).
 */
function allocatable({ cpus, memoryBytes, gpus }: Machine) {
  const reserved = (255 + 11 * (cpus < 30 ? 110 : 250)) * MiB;
  return {
    cpus: cpus - reservedCpus(cpus) - daemonSets.cpus,
    memoryBytes: memoryBytes * 0.925 - reserved - evictionThreshold - daemonSets.memoryBytes,
    gpus,
  };
}

/**
 * The kubelet keeps 10 % of the root file system free, and EKS reserves 1 GiB (github.com/awslabs/amazon-eks-ami, nodeadm). 0.1 %
 * are boot partitions.
 */
const allocatableDisk = (diskGiB: number): number => (diskGiB * 0.999 * 0.9 - 1) * GiB;

const machines: readonly Machine[] = [
  ...families.flatMap(([family, facts]) =>
    Object.entries(sizes).map(([size, cpus]) => sized(`${family}.${size}`, cpus, facts)),
  ),
  ...gpuMachines(gpuTypes),
];
const byName = new Map(machines.map((machine) => [machine.name, machine]));

export const awsMachines: MachineCatalogue = {
  machines,
  suggested: machines.filter(({ name }) => /^(c7i|m7i|r7i|c7g|m7g|r7g|g5|g6|g6e|p5)\./.test(name)),
  find: (name) => byName.get(name),
  allocatable,
  allocatableDisk,
};
