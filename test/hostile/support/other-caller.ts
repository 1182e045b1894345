/** Asks for the statistics of a table, every 100 ms, from a thread of its own: what the attack costs this process is not counted. */
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, Worker, workerData } from "node:worker_threads";

interface Asked {
  readonly url: string;
  readonly token: string;
  /** Seconds that an answer may take. */
  readonly answerSeconds: number;
}

export interface Answers {
  /** Milliseconds of each request. */
  readonly latencies: readonly number[];
  /** Statuses and errors other than 200. */
  readonly wrong: readonly string[];
}

/** Starts to ask. @returns what ends it, with all answers */
export const startOtherCaller = (asked: Asked): (() => Promise<Answers>) => {
  const worker = new Worker(new URL(import.meta.url), { workerData: asked });
  const answers = new Promise<Answers>((resolve, reject) => worker.once("message", resolve).once("error", reject));
  return () => {
    worker.postMessage("end");
    return answers;
  };
};

const askUntilEnd = async ({ url, token, answerSeconds }: Asked): Promise<Answers> => {
  const latencies: number[] = [];
  const wrong: string[] = [];
  let isOver = false;
  parentPort?.once("message", () => {
    isOver = true;
  });
  while (!isOver) {
    const start = performance.now();
    const { status } = await fetch(url, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: "{}",
      signal: AbortSignal.timeout(answerSeconds * 1000),
    }).catch((error: unknown) => ({ status: String(error) }));
    if (status !== 200) wrong.push(String(status));
    latencies.push(performance.now() - start);
    await sleep(100);
  }
  return { latencies, wrong };
};

if (parentPort !== null && workerData !== null) parentPort.postMessage(await askUntilEnd(workerData as Asked));
