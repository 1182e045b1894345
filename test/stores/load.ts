import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "../support/request.ts";
import type { ServiceProcess } from "../support/service-process.ts";
import { fault, questions } from "./questions.ts";

/** What a load has seen so far. */
export interface Seen {
  right: number;
  /** Answers that say properly that the store cannot be reached. */
  refused: number;
  /** Everything else, in words. */
  readonly wrong: string[];
}

/** Parts of addresses and native errors that no answer may hold. */
const leaks = /127\.0\.0\.1|tables\/|_versions|manifest|\.rs:|object_store|\b(S3|GCS)\b/;

/** What is wrong with a refusal; undefined where it is the contract's own: 503, code 17, when to retry, and no more. */
export const refusalFault = ({ status, headers, body }: Answer): string | undefined => {
  const proper = status === 503 && body?.code === 17 && Number(headers.get("retry-after")) > 0;
  if (proper && !leaks.test(JSON.stringify(body))) return undefined;
  return `${status} ${JSON.stringify(body)} retry-after ${headers.get("retry-after")}`;
};

/** Asks everything that has one right answer, many at once, until `done` says so after a whole round. */
export const load = async (service: ServiceProcess, seen: Seen, atOnce: number, done: () => boolean): Promise<void> => {
  let next = 0;
  const one = async (): Promise<void> => {
    while (next === 0 || next % questions.length !== 0 || !done()) {
      const question = questions[next++ % questions.length];
      if (question === undefined) continue;
      const answer = await service.ask(`/v1/${question.path}`, question.body, question.asking);
      const wrong = fault(question, answer);
      if (wrong === undefined) seen.right++;
      else if (refusalFault(answer) === undefined) seen.refused++;
      else seen.wrong.push(wrong);
      await sleep(1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
};
