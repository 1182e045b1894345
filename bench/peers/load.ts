/** Sends one form of a request again and again. Arguments: port, token. */
import { Caller } from "../caller.ts";
import { closedLoop } from "../measure.ts";
import { serveTasks } from "../task-process.ts";
import type { Task } from "./requests.ts";

const [port = "", token = ""] = process.argv.slice(2);

serveTasks(async ({ form, ...task }: Task) => {
  const { method, path, bodies, status } = form;
  const callers = Array.from({ length: task.concurrency }, () => new Caller(Number(port)));
  try {
    return await closedLoop(task, async (caller, index) => {
      const body = bodies?.[index % bodies.length]?.replace("#", String(index));
      const asked = { path, token, ...(method && { method }), ...(body !== undefined && { body }) };
      const answer = await callers[caller]?.ask(asked);
      if (answer?.status !== status) throw new Error(`${path} answered ${answer?.status}: ${answer?.text}`);
    });
  } finally {
    for (const caller of callers) caller.close();
  }
});
