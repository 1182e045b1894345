import { type ClusterModel, type Pool, poolsOf, smallestMachine } from "../../model/cluster.ts";
import { rayRoles, roleFacts } from "../../model/roles.ts";
import { errorIf, type Finding } from "../report.ts";

/** Pools by themselves: bounds, known machines of one size, GPUs only for GPU work, disks large enough for images. */
export function checkPools(cluster: ClusterModel): Finding[] {
  return [...cluster.pools.flatMap((pool) => checkPool(cluster, pool)), ...checkArchitectures(cluster)];
}

function checkPool({ machines: catalogue }: ClusterModel, pool: Pool): Finding[] {
  const { machineKey, machineNames, machines, path: key } = pool;
  const needsGpu = roleFacts[pool.role].gpu;
  const suggestion = catalogue && smallestMachine(catalogue, { cpus: 1, memoryBytes: 0, gpus: needsGpu ? 1 : 0 });
  const sizes = machines.map((machine) => JSON.stringify({ ...machine, name: undefined }));
  return [
    ...errorIf(
      pool.min > pool.max,
      [`${key}.min`, pool.min],
      `more than ${key}.max, which is ${pool.max}`,
      "lower min or raise max",
    ),
    ...machineNames
      .filter((name) => !machines.some((machine) => machine.name === name))
      .flatMap((name) =>
        errorIf(
          true,
          [machineKey, name],
          "the size of this type is unknown",
          `write a known type${suggestion === undefined ? "" : ` such as ${suggestion.name}`}, or the size under ${key}.size`,
        ),
      ),
    ...errorIf(
      new Set(sizes).size > 1,
      [machineKey, machineNames],
      "the types differ in size, and the autoscaler assumes that all nodes of a group are equal",
      "list types of equal CPUs, memory, GPUs and architecture",
    ),
    ...machines
      .filter(({ gpus }) => gpus > 0 !== needsGpu)
      .flatMap(({ name }) =>
        needsGpu
          ? errorIf(
              true,
              [machineKey, name],
              "the type has no GPU",
              `write a type with GPUs, such as ${suggestion?.name}`,
            )
          : errorIf(
              true,
              [machineKey, name],
              "nothing on these nodes uses its GPUs",
              `write a type without GPUs, such as ${suggestion?.name}`,
            ),
      ),
    ...errorIf(
      needsGpu && pool.diskGiB < 100,
      [`${key}.diskGiB`, pool.diskGiB],
      "Ray's GPU images and a job's packages need 100 GiB",
      "write 100 or more",
    ),
  ];
}

/** The client ships compiled packages to every Ray pod, so all of them need one architecture. */
function checkArchitectures(cluster: ClusterModel): Finding[] {
  const pools = rayRoles.flatMap((role) => poolsOf(cluster, role));
  const architectures = new Set(pools.flatMap(({ machines }) => machines.map(({ architecture }) => architecture)));
  return errorIf(
    architectures.size > 1,
    ["nodes", Object.fromEntries(pools.map(({ path, machineNames }) => [path.replace(/^nodes\./, ""), machineNames]))],
    "Ray nodes of two architectures cannot share a job's packages",
    "write types of one architecture, x86_64 or arm64",
  );
}
