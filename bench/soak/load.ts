/** Sends the mix in a process of its own. Argument: port. */
import { setTimeout as sleep } from "node:timers/promises";
import { Caller } from "../caller.ts";
import { percentile } from "../measure.ts";
import { serveTasks } from "../task-process.ts";
import { kindOf, kinds } from "./requests.ts";

const [port = ""] = process.argv.slice(2);

export type Stretch =
  /** As fast as so many callers get answers, for a time or a number of requests. */
  | { readonly callers: number; readonly seconds: number }
  | { readonly callers: number; readonly requests: number }
  /** At a fixed rate, whether or not earlier requests are answered. */
  | { readonly callers: number; readonly seconds: number; readonly perSecond: number }
  /** Until the connection is refused. */
  | { readonly callers: number; readonly untilGone: true };

export interface Unanswered {
  /** The request's id, as the service's log has it. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly sentAt: number;
  readonly error: string;
}

export interface Sent {
  readonly requests: number;
  readonly seconds: number;
  /** Milliseconds; at a fixed rate from the moment when the request was due. */
  readonly p50: number;
  readonly p99: number;
  /** Answers 429 and 503 with the codes of a limit. */
  readonly refusals: number;
  /** Responses that are neither expected nor refusals, counted by text. */
  readonly unexpected: Readonly<Record<string, number>>;
  readonly unanswered: readonly Unanswered[];
}

const isRefusal = (status: number, text: string): boolean =>
  (status === 503 && text.includes('"code":17')) || (status === 429 && text.includes('"code":21'));

/** Goes on counting over all stretches, so that every kind comes as often as it should. */
let next = 0;

const send = async (stretch: Stretch): Promise<Sent> => {
  const begin = performance.now();
  const first = next;
  const last = "requests" in stretch ? first + stretch.requests : Number.POSITIVE_INFINITY;
  const until = "seconds" in stretch ? begin + stretch.seconds * 1000 : Number.POSITIVE_INFINITY;
  const latencies: number[] = [];
  const unexpected: Record<string, number> = {};
  const unanswered: Unanswered[] = [];
  let refusals = 0;
  let gone = false;

  const one = async (caller: Caller, index: number, since: number): Promise<void> => {
    const kind = kindOf(index);
    const asked = kind.ask(index);
    const id = `soak-${process.pid}-${index}`;
    const sentAt = Date.now();
    try {
      const { status, text } = await caller.ask({ ...asked, headers: { "x-request-id": id } });
      latencies.push(performance.now() - since);
      kind.answered?.(asked, status);
      if (status === kind.status) return;
      if (isRefusal(status, text)) refusals++;
      else {
        const sort = `${kind.name}: ${status} ${text.replace(/"instance":"[^"]*"/, "").slice(0, 160)}`;
        unexpected[sort] = (unexpected[sort] ?? 0) + 1;
      }
    } catch (error) {
      gone = (error as NodeJS.ErrnoException).code === "ECONNREFUSED";
      if (!gone) unanswered.push({ id, sentAt, error: String(error) });
    }
  };

  const run = async (): Promise<void> => {
    const caller = new Caller(Number(port));
    while (next < last && !gone) {
      const index = next++;
      const due = "perSecond" in stretch ? begin + ((index - first) / stretch.perSecond) * 1000 : performance.now();
      if (due >= until) break;
      const wait = due - performance.now();
      if (wait > 0) await sleep(wait);
      await one(caller, index, due);
    }
    caller.close();
  };
  await Promise.all(Array.from({ length: stretch.callers }, run));
  return {
    requests: latencies.length,
    seconds: (performance.now() - begin) / 1000,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    refusals,
    unexpected,
    unanswered,
  };
};

/** Sends one request of each kind, so that an invalid kind fails at the start. */
const sendEach = async (): Promise<readonly string[]> => {
  const caller = new Caller(Number(port));
  const wrong: string[] = [];
  for (const kind of kinds) {
    const asked = kind.ask(0);
    const { status, text } = await caller.ask(asked);
    kind.answered?.(asked, status);
    if (status !== kind.status) wrong.push(`${kind.name}: ${status} instead of ${kind.status}: ${text.slice(0, 160)}`);
  }
  caller.close();
  return wrong;
};

export type Task = { readonly each: true } | Stretch;

serveTasks<Task, readonly string[] | Sent>((task) => ("each" in task ? sendEach() : send(task)));
