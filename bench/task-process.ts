import { type ChildProcess, fork } from "node:child_process";

/** A child process that runs one task at a time. */
export interface Worker<In, Out> {
  run(task: In): Promise<Out>;
  stop(): void;
}

type Reply<Out> = { readonly result: Out } | { readonly failure: string };

/** Starts a module that calls `serveTasks`, with arguments for it. */
export const startWorker = <In, Out>(module: URL, args: readonly string[]): Worker<In, Out> => {
  const child: ChildProcess = fork(module, [...args]);
  return {
    run: (task) =>
      new Promise((resolve, reject) => {
        const onExit = (code: number | null): void => reject(new Error(`${module.pathname} ended with code ${code}`));
        child.once("exit", onExit);
        child.once("message", (reply: Reply<Out>) => {
          child.off("exit", onExit);
          if ("result" in reply) resolve(reply.result);
          else reject(new Error(reply.failure));
        });
        child.send(task as object);
      }),
    stop: () => void child.kill(),
  };
};

/** In the child process: runs each task of the parent and sends its result. */
export const serveTasks = <In, Out>(work: (task: In) => Promise<Out>): void => {
  process.on("message", (task: In) => {
    work(task).then(
      (result) => process.send?.({ result }),
      (error: unknown) => process.send?.({ failure: error instanceof Error ? (error.stack ?? "") : String(error) }),
    );
  });
};
