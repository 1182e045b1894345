import { _InstanceType } from "@aws-sdk/client-ec2";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { awsMachines } from "../../../infra/clouds/aws/nodes/machines.ts";
import { acceleratorOf, gcpMachines } from "../../../infra/clouds/gcp/nodes/machines.ts";
import { smallestMachine } from "../../../infra/model/cluster.ts";
import { type Amount, podsPerNode } from "../../../infra/model/fit.ts";
import { formatMemory, GiB, parseMemory } from "../../../infra/model/quantity.ts";

const catalogues = { aws: awsMachines, gcp: gcpMachines };
const capacity = (cloud: "aws" | "gcp", name: string): Amount => {
  const machine = catalogues[cloud].find(name);
  if (machine === undefined) throw new Error(`${name} is unknown`);
  return catalogues[cloud].allocatable(machine);
};
const head: Amount = { cpus: 5, memoryBytes: 9 * GiB, gpus: 0 };
const gpuWorker: Amount = { cpus: 8, memoryBytes: 16 * GiB, gpus: 1 };

const anyMachine = fc
  .constantFrom(...Object.values(catalogues))
  .chain((catalogue) => fc.constantFrom(...catalogue.machines).map((found) => ({ catalogue, found })));
const pod: fc.Arbitrary<Amount> = fc.record({
  cpus: fc.integer({ min: 1, max: 60 }),
  memoryBytes: fc.integer({ min: 1, max: 400 }).map((gib) => gib * GiB),
  gpus: fc.constantFrom(0, 0, 1, 4),
});

describe("the allocatable capacity of a node", () => {
  test("is less than the machine has, and never negative on a machine of 4 CPUs or more", () => {
    fc.assert(
      fc.property(anyMachine, ({ catalogue, found }) => {
        const left = catalogue.allocatable(found);
        expect(left.cpus).toBeLessThan(found.cpus);
        expect(left.memoryBytes).toBeLessThan(found.memoryBytes);
        expect(left.gpus).toBe(found.gpus);
        if (found.cpus >= 4) expect(left.memoryBytes).toBeGreaterThan(0);
      }),
    );
  });

  test("a head of 4 CPUs with its sidecar fits a node with 8 CPUs but none with 4", () => {
    expect(podsPerNode(head, capacity("aws", "m7i.xlarge"))).toBe(0);
    expect(podsPerNode(head, capacity("aws", "m7i.2xlarge"))).toBe(1);
    expect(podsPerNode(head, capacity("gcp", "n2-standard-4"))).toBe(0);
    expect(podsPerNode(head, capacity("gcp", "n2-standard-8"))).toBe(1);
  });

  test.each([
    ["aws", "g5.2xlarge"],
    ["aws", "g6.2xlarge"],
    ["gcp", "g2-standard-8"],
  ] as const)("the client's GPU worker of 8 CPUs does not fit %s %s", (cloud, name) => {
    expect(podsPerNode(gpuWorker, capacity(cloud, name))).toBe(0);
  });

  test.each([
    ["aws", "g6.4xlarge"],
    ["gcp", "g2-standard-12"],
  ] as const)("and fits %s %s once", (cloud, name) => {
    expect(podsPerNode(gpuWorker, capacity(cloud, name))).toBe(1);
  });

  test("EKS nodes report 3.92 of 4 and 7.91 of 8 CPUs", () => {
    const daemons = 0.25;
    expect(capacity("aws", "m7i.xlarge").cpus + daemons).toBeCloseTo(3.92, 5);
    expect(capacity("aws", "m7i.2xlarge").cpus + daemons).toBeCloseTo(7.91, 5);
  });
});

describe("the local disk of a node", () => {
  test("is less than the disk has, and grows with it", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(catalogues)),
        fc.integer({ min: 20, max: 16_000 }),
        (cloud, disk) => {
          expect(cloud.allocatableDisk(disk)).toBeGreaterThan(0);
          expect(cloud.allocatableDisk(disk)).toBeLessThan(disk * GiB);
          expect(cloud.allocatableDisk(disk + 1)).toBeGreaterThan(cloud.allocatableDisk(disk));
        },
      ),
    );
  });

  test("an EKS node with 20 GiB reports 18242267924 bytes", () => {
    expect(awsMachines.allocatableDisk(20)).toBeLessThanOrEqual(18_242_267_924);
    expect(awsMachines.allocatableDisk(20)).toBeGreaterThan(18_242_267_924 * 0.99);
  });

  test("limits the pods of a node, and is not compared where it is unknown", () => {
    const worker = { cpus: 1, memoryBytes: GiB, gpus: 0, diskBytes: 12 * GiB };
    const node = { cpus: 16, memoryBytes: 64 * GiB, gpus: 0 };
    expect(podsPerNode(worker, { ...node, diskBytes: 40 * GiB })).toBe(3);
    expect(podsPerNode(worker, node)).toBe(16);
  });
});

describe("pods per node", () => {
  test("is the largest number that fits", () => {
    fc.assert(
      fc.property(pod, anyMachine, (some, { catalogue, found }) => {
        const node = catalogue.allocatable(found);
        const count = podsPerNode(some, node);
        const fits = (n: number) =>
          n * some.cpus <= node.cpus + 1e-6 &&
          n * some.memoryBytes <= node.memoryBytes + 1 &&
          n * some.gpus <= node.gpus;
        if (count > 0) expect(fits(count)).toBe(true);
        expect(fits(count + 1)).toBe(false);
      }),
    );
  });

  test("is zero for a pod without requests", () => {
    expect(podsPerNode({ cpus: 0, memoryBytes: 0, gpus: 0 }, head)).toBe(0);
  });
});

describe("the smallest machine for a pod", () => {
  test("fits the pod, and no smaller machine of its family does", () => {
    fc.assert(
      fc.property(pod, fc.constantFrom(...Object.values(catalogues)), (some, catalogue) => {
        const best = smallestMachine(catalogue, some);
        if (best === undefined) return;
        expect(podsPerNode(some, catalogue.allocatable(best))).toBeGreaterThan(0);
        expect(best.gpus > 0).toBe(some.gpus > 0);
        const family = best.name.split(/[.-](?=[^.-]*$)/)[0];
        for (const other of catalogue.machines) {
          if (!other.name.startsWith(`${family}`) || other.cpus >= best.cpus || other.gpus !== best.gpus) continue;
          expect(podsPerNode(some, catalogue.allocatable(other))).toBe(0);
        }
      }),
    );
  });

  test("depends on cloud and architecture", () => {
    expect(smallestMachine(awsMachines, head)?.name).toBe("c7i.2xlarge");
    expect(smallestMachine(awsMachines, head, "arm64")?.name).toBe("c7g.2xlarge");
    expect(smallestMachine(gcpMachines, head)?.name).toBe("n2-standard-8");
    expect(smallestMachine(awsMachines, gpuWorker)?.name).toBe("g5.4xlarge");
    expect(smallestMachine(gcpMachines, gpuWorker)?.name).toBe("g2-standard-12");
    expect(smallestMachine(awsMachines, { ...head, cpus: 500 })).toBeUndefined();
  });
});

describe("the catalogue", () => {
  test("lists only instance types of EC2's SDK", () => {
    const real = new Set<string>(Object.values(_InstanceType));
    expect(awsMachines.machines.filter(({ name }) => !real.has(name))).toEqual([]);
  });

  test("reads the size of a custom machine type from its name", () => {
    expect(gcpMachines.find("n2-custom-6-20480")).toMatchObject({ cpus: 6, memoryBytes: 20 * GiB, gpus: 0 });
    expect(gcpMachines.find("n2-standard-7")).toBeUndefined();
    expect(awsMachines.find("m7i.99xlarge")).toBeUndefined();
  });

  test("has the built-in accelerator of a GPU type, unless one is configured", () => {
    expect(acceleratorOf("g2-standard-24")).toEqual({ type: "nvidia-l4", count: 2 });
    expect(acceleratorOf("n1-standard-8", { type: "nvidia-tesla-t4", count: 1 })).toEqual({
      type: "nvidia-tesla-t4",
      count: 1,
    });
    expect(acceleratorOf("n2-standard-8")).toBeUndefined();
  });
});

describe("quantities", () => {
  test("are parsed as they were formatted", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 45 }), (bytes) => {
        expect(parseMemory(formatMemory(bytes))).toBe(bytes);
      }),
    );
  });

  test.each([
    ["8Gi", 8 * GiB],
    ["8G", 8e9],
    ["1.5Gi", 1.5 * GiB],
    ["500M", 5e8],
    ["2048", 2048],
  ])("%s is %d bytes", (text, bytes) => {
    expect(parseMemory(text)).toBe(bytes);
  });

  test.each(["", "8gb", "8 Gi", "-1Gi", "Gi"])("%j is none", (text) => {
    expect(() => parseMemory(text)).toThrow(RangeError);
  });
});
