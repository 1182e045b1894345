/** The bare SDK in a process of its own, as the baseline. Arguments: the database's address, storage options as JSON. */
import { connect, Session, type Table } from "@lancedb/lancedb";
import { closedLoop, type Round } from "./measure.ts";
import { serveTasks } from "./task-process.ts";
import { createWorkloads, type Task } from "./workloads.ts";

export type DirectRound = Round & { readonly cpuSeconds: number };

const [address = "", storageOptions = "{}"] = process.argv.slice(2);
const workloads = createWorkloads("direct");
const connection = await connect(address, {
  readConsistencyInterval: 1,
  storageOptions: JSON.parse(storageOptions),
  session: new Session(2n ** 30n, 2n ** 28n),
});
const handles = new Map<string, Table>();

const handleOf = async (name: string): Promise<Table> => {
  const handle = handles.get(name) ?? (await connection.openTable(name));
  handles.set(name, handle);
  return handle;
};

serveTasks(async (task: Task): Promise<DirectRound> => {
  const workload = workloads.find(({ name }) => name === task.workload);
  if (workload === undefined) throw new Error(`there is no workload ${task.workload}`);
  const table = await handleOf(workload.table);
  const before = process.cpuUsage();
  const round = await closedLoop(task, (_, index) => workload.direct(table, index));
  const { user, system } = process.cpuUsage(before);
  return { ...round, cpuSeconds: (user + system) / 1e6 };
});
