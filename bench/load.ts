/**
 * The load generator, in a process of its own so that its cost is not the service's: keep-alive connections, one for
 * each caller. Arguments: port, token, side.
 */
import { Caller } from "./caller.ts";
import { closedLoop } from "./measure.ts";
import { serveTasks } from "./task-process.ts";
import { createWorkloads, type Task } from "./workloads.ts";

const [port = "", token = "", side = ""] = process.argv.slice(2);
const workloads = createWorkloads(side);

serveTasks(async (task: Task) => {
  const workload = workloads.find(({ name }) => name === task.workload);
  if (workload === undefined) throw new Error(`there is no workload ${task.workload}`);
  const callers = Array.from({ length: task.concurrency }, () => new Caller(Number(port)));
  try {
    return await closedLoop(task, async (caller, index) => {
      const path = `/v1/table/${workload.table}/${workload.operation}`;
      const answer = await callers[caller]?.ask({ path, token, body: workload.body(index) });
      if (answer?.status !== 200) throw new Error(`answered ${answer?.status}: ${answer?.text}`);
    });
  } finally {
    for (const caller of callers) caller.close();
  }
});
