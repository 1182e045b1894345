import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "../support/request.ts";
import type { ServiceProcess } from "../support/service-process.ts";
import { fault, questions } from "./questions.ts";

/** Responses of a load so far. */
export interface Seen {
  right: number;
  /** Valid refusals: the store is unavailable. */
  refused: number;
  /** Everything else, as text. */
  readonly wrong: string[];
}

/** Parts of addresses and native errors that no response may contain. */
const leaks = /127\.0\.0\.1|tables\/|_versions|manifest|\.rs:|object_store|\b(S3|GCS)\b/;

/** What is wrong with a refusal; undefined for a valid one: 503, code 17, Retry-After, and no internals. */
export const refusalFault = ({ status, headers, body }: Answer): string | undefined => {
  const proper = status === 503 && body?.code === 17 && Number(headers.get("retry-after")) > 0;
  if (proper && !leaks.test(JSON.stringify(body))) return undefined;
  return `${status} ${JSON.stringify(body)} retry-after ${headers.get("retry-after")}`;
};

/** Sends all questions, several concurrently, until `done` returns true after a whole round. */
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
