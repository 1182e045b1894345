/** The steps of one stack, from preview to destroy, and the expected result of each. */

import { clientGroup } from "../../../infra/clouds/aws/verify.ts";
import type { Capture } from "../../../infra/offline-plan/capture.ts";
import { diffPlans } from "../../../infra/offline-plan/diff.ts";
import { longestPath, reversed } from "../../support/infra/critical-path.ts";
import { runStack } from "../../support/infra/stacks.ts";
import { type StateResource, shortMinutes, tasksOf, unavoidable } from "../../support/infra/tasks.ts";
import type { Entry } from "../providers/journal.ts";
import { checkRights, clientRights } from "../support/access.ts";
import type { Cluster } from "../support/cluster.ts";
import type { Engine, Outcome, Stack } from "../support/engine.ts";
import { changing } from "../support/events.ts";
import { offlinePlan, operationsOf, predictedOperations, requirePredicted } from "../support/prediction.ts";
import { holds, type Report } from "../support/report.ts";
import { type ExpectedFault, operatorOutside, verifyStack } from "../support/verification.ts";
import { deletionOrder, judgeOrder } from "./order.ts";
import { type CloudFacts, type CloudStack, changed } from "./stacks.ts";

/** What the journal of a stand-in says of an operation: how long it took, and what waited without need. Pure. */

interface Wait {
  readonly urn: string;
  /** Milliseconds between the end of the last thing it waited for and its own beginning. */
  readonly milliseconds: number;
}

interface Timing {
  /** From the first beginning to the last end. */
  readonly milliseconds: number;
  /** The longest waits first. */
  readonly waits: readonly Wait[];
}

/** @param after - What each resource waits for. What the journal does not know counts as existing. */
function timingOf(entries: readonly Entry[], after: ReadonlyMap<string, readonly string[]>): Timing {
  const begun = new Map<string, number>();
  const done = new Map<string, number>();
  for (const { urn, phase, at } of entries) (phase === "begun" ? begun : done).set(urn, at);
  const first = Math.min(...begun.values());
  const waits = [...begun].map(([urn, at]) => {
    const ready = Math.max(first, ...(after.get(urn) ?? []).flatMap((needed) => done.get(needed) ?? []));
    return { urn, milliseconds: at - ready };
  });
  return {
    milliseconds: entries.length === 0 ? 0 : Math.max(...done.values()) - first,
    waits: waits.sort((a, b) => b.milliseconds - a.milliseconds),
  };
}

/** The cloud behind the provider. */
export interface CloudView {
  /** What exists, a line each. */
  readonly left: () => readonly string[];
  /** Beginnings and ends of operations; none of a cloud that takes no time. */
  readonly entries: () => readonly Entry[];
  /** Lets an operation fail, such as `create` of a type and name; undefined: none. */
  readonly fail: (operation: string | undefined) => void;
}

export interface Parts {
  readonly report: Report;
  readonly name: CloudStack;
  readonly facts: CloudFacts;
  readonly engine: Engine;
  readonly cluster: Cluster;
  readonly stack: Stack;
  readonly cloud: CloudView;
  /** Configuration overrides of all steps. */
  readonly base: Readonly<Record<string, unknown>>;
  /** Simulated length of a minute, in milliseconds. */
  readonly minute: number;
}

const simulatedPods = "pods are simulated and serve no requests";

/** What must be wrong here, whatever the stack: the operator is elsewhere, and no container runs. */
const expectedFaults: readonly ExpectedFault[] = [
  operatorOutside,
  { line: /^table service: no response on its operations port: /, reason: simulatedPods },
  { line: /^table service: no response on its API port: /, reason: simulatedPods },
];

/** Maximum ratio of the time of a stack to that of its unavoidable chain. */
const allowance = 1.1;

/** The engine's count, such as `92 create, 3 same`. */
const tally = ({ changes, seconds }: Outcome): string =>
  `${Object.entries(changes)
    .map(([op, number]) => `${number} ${op}`)
    .join(", ")}, ${seconds.toFixed(0)} s`;

export class Scenario {
  readonly #parts: Parts;
  #entries = 0;
  #configured: Readonly<Record<string, unknown>>;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#configured = parts.base;
  }

  async run(): Promise<void> {
    const { report, stack, base, name, facts } = this.#parts;
    const check = (title: string, act: () => Promise<string | undefined>) => report.check(`${name}: ${title}`, act);
    let plan: Capture | undefined;

    await check("preview refuses the placeholders of the untouched example", () => this.#placeholders());
    await check("preview plans what the offline plan plans", async () => {
      plan = await runStack(name, "preview", base);
      holds(plan.failure === undefined, `the offline plan failed:\n${plan.failure}`);
      return this.#samePlan(plan, await stack.preview());
    });
    if (plan === undefined) return;
    const planned = plan;
    let up: Outcome | undefined;
    const isUp = await check("up", async () => {
      up = await stack.up();
      report.summarize(`${name}: up: ${tally(up)}`);
      return tally(up);
    });
    if (!isUp) return;
    const journal = this.#newEntries();
    await check("the engine created in the order of the rules", async () => this.#order(planned, up, "create"));
    await check("time to ready", async () => this.#timeTo("create", journal));
    await check("verify finds no fault that is not expected", () => this.#verify());
    await check("a second up changes nothing", async () => {
      const same = this.#nothing(await stack.up());
      report.summarize(`${name}: a second up is a no-op: ${same}`);
      return same;
    });
    await check("refresh finds no drift", async () => this.#nothing(await stack.refresh()));
    for (const change of facts.changes)
      await check(`${change.what}: the engine does what the offline plan predicted`, () =>
        this.#change(change.overrides),
      );
    await check("a least-privilege client has the permissions that it needs and no others", () => this.#client());
    await check("the original configuration applies again", async () => {
      await stack.configure(base);
      return tally(await stack.up());
    });
    await check("with protect, destroy deletes nothing", () => this.#protected());
    let state: readonly StateResource[] = [];
    await check("destroy fails in the middle", async () => {
      state = await this.#state();
      return this.#failing(`delete ${facts.stuck}`, "destroy");
    });
    await check("a second destroy succeeds", async () => this.#gone(await stack.destroy()));
    await check("up fails in the middle", () => this.#failing(`create ${facts.failing}`, "up"));
    await check("a second up succeeds", async () => tally(await stack.up()));
    await check("a third up changes nothing", async () => this.#nothing(await stack.up()));
    this.#newEntries();
    let down: Outcome | undefined;
    await check("destroy", async () => {
      state = await this.#state();
      down = await stack.destroy();
      report.summarize(`${name}: order of deletion: ${deletionOrder(down.ended)}`);
      return this.#gone(down);
    });
    await check("the engine deleted in the order of the rules", async () => this.#order(planned, down, "delete"));
    await check("time to gone", async () => this.#timeTo("delete", this.#newEntries(), state));
  }

  async #placeholders(): Promise<string> {
    const { stack, base } = this.#parts;
    await stack.configureExample();
    const message = await stack.preview().then(
      () => "",
      (error: Error) => error.message,
    );
    await stack.configure(base);
    const keys: readonly string[] =
      message.match(/lakehead:[\w.]+(?= = .*(placeholder|reserved for documentation))/g) ?? [];
    holds(keys.includes("lakehead:bucket.name"), `the preview said: ${message}`);
    return keys.join(", ");
  }

  #samePlan(plan: Capture, outcome: Outcome): string {
    const created = new Set(outcome.ended.filter(({ op }) => op === "create").map(({ urn }) => urn));
    const missing = plan.resources.filter(({ urn }) => !created.has(urn)).map(({ urn }) => urn);
    holds(missing.length === 0, `the engine's preview lacks ${missing.join("\n")}`);
    const known = new Set(plan.resources.map(({ urn }) => urn));
    // Objects of manifests, which the offline plan cannot read.
    const extra = [...created].filter((urn) => !known.has(urn) && !urn.includes("yaml/v2:ConfigGroup$"));
    holds(extra.length === 0, `the engine's preview has more than the offline plan:\n${extra.join("\n")}`);
    return `${created.size} resources`;
  }

  #order(plan: Capture, outcome: Outcome | undefined, operation: "create" | "delete"): string {
    holds(outcome !== undefined, "the operation did not run");
    const { findings, pairs, rules } = judgeOrder(plan, outcome, operation);
    holds(findings.length === 0, findings.join("\n"));
    holds(rules >= 8, `only ${rules} rules applied to any resource`);
    return `${rules} rules, ${pairs} pairs`;
  }

  #nothing(outcome: Outcome): string {
    const steps = changing(outcome.ended);
    holds(steps.length === 0, steps.map(({ op, urn, paths }) => `${op} ${urn} ${paths.join(", ")}`).join("\n"));
    return `${outcome.changes.same ?? 0} unchanged`;
  }

  /** Each change applies on top of the earlier ones. */
  async #change(overrides: Readonly<Record<string, unknown>>): Promise<string> {
    const { engine, stack, name } = this.#parts;
    const before = await offlinePlan(engine.project, name);
    this.#configured = { ...this.#configured, ...overrides };
    await stack.configure(this.#configured);
    const after = await offlinePlan(engine.project, name);
    const outcome = await stack.up();
    requirePredicted(operationsOf(outcome.ended, after), predictedOperations(diffPlans(before, after), after));
    return tally(outcome);
  }

  /** Asks the API server for the permissions of the client's user in this cloud. */
  async #client(): Promise<string> {
    const { stack, base, name, facts, cluster } = this.#parts;
    await stack.configure({ ...this.#configured, ...changed(name, "client", { access: "least-privilege" }) });
    await stack.up();
    const outputs = await stack.outputs();
    const who =
      facts.cloud === "aws"
        ? { user: "client", groups: [clientGroup] }
        : { user: String(outputs.clientServiceAccount) };
    const answer = await checkRights(cluster.kubeconfig, who, clientRights(String(outputs.namespace)));
    await stack.configure(base);
    return answer;
  }

  async #protected(): Promise<string> {
    const { stack, base, cloud } = this.#parts;
    await stack.configure({ ...base, "lakehead:protect": true });
    await stack.up();
    const before = cloud.left().length;
    // With its preview: without one the engine deletes unprotected resources before it stops.
    const output = await stack.run(["destroy", "--yes", "--non-interactive"]).then(
      () => "",
      ({ stdout = "", stderr = "" }: { stdout?: string; stderr?: string }) => `${stdout}${stderr}`,
    );
    const refusals = output.match(/cannot be deleted/g)?.length ?? 0;
    holds(refusals > 0, output === "" ? "destroy succeeded" : `destroy failed for another reason:\n${output}`);
    holds(cloud.left().length === before, "destroy deleted resources");
    await stack.configure(base);
    await stack.up();
    return `${refusals} refusals`;
  }

  async #failing(operation: string, command: "up" | "destroy"): Promise<string> {
    const { stack, cloud } = this.#parts;
    cloud.fail(operation);
    try {
      const outcome = await stack[command]("failure");
      const isExpected = outcome.diagnostics.some(({ message }) => message.includes("InternalFailure"));
      holds(isExpected, `it failed for another reason:\n${outcome.output.slice(-2000)}`);
      return `${cloud.left().length} resources are left in the cloud`;
    } finally {
      cloud.fail(undefined);
    }
  }

  /** Requires that nothing of the stack is left, in the cloud or in the cluster, except definitions that stay. */
  async #gone(outcome: Outcome): Promise<string> {
    const { cloud, cluster } = this.#parts;
    const left = cloud.left();
    const objects = await cluster.kubectl(["get", "namespaces,nodes", "-o", "name"]);
    const unexpected = objects
      .split("\n")
      .filter((line) => line !== "" && !/^namespace\/(default|kube-.*)$/.test(line));
    holds(left.length + unexpected.length === 0, [...left, ...unexpected].join("\n"));
    return tally(outcome);
  }

  async #state(): Promise<readonly StateResource[]> {
    const { deployment } = await this.#parts.stack.state();
    return (deployment.resources ?? []) as unknown as readonly StateResource[];
  }

  #newEntries(): readonly Entry[] {
    const all = this.#parts.cloud.entries();
    const fresh = all.slice(this.#entries);
    this.#entries = all.length;
    return fresh;
  }

  async #timeTo(
    operation: "create" | "delete",
    entries: readonly Entry[],
    held?: readonly StateResource[],
  ): Promise<string> {
    const { report, facts, minute, name } = this.#parts;
    const state = held ?? (await this.#state());
    const up = tasksOf(state, operation);
    const tasks = operation === "create" ? up : reversed(up);
    const path = longestPath(tasks);
    const least = unavoidable(facts.cloud, operation);
    const word = operation === "create" ? "ready" : "gone";
    const chain = path.steps
      .filter(({ minutes }) => minutes >= 0.1)
      .map(({ urn, minutes }) => `${urn.split("::").at(-1)} ${shortMinutes(minutes)}`)
      .join(" → ");
    report.summarize(`${name}: ${word} in ${shortMinutes(path.minutes)} min: ${chain}`);
    report.summarize(`${name}: unavoidable ${shortMinutes(least.minutes)} min: ${least.text}`);
    const { milliseconds, waits } = timingOf(entries, new Map(tasks.map(({ urn, after }) => [urn, after])));
    const ideal = longestPath(tasks.filter(({ urn }) => entries.some((entry) => entry.urn === urn)));
    const [longest] = operation === "create" ? waits : [];
    if (entries.length > 0)
      report.summarize(
        `${name}: measured ${(milliseconds / 1000).toFixed(1)} s for the cloud's part, ${((ideal.minutes * minute) / 1000).toFixed(1)} s of it the cloud's own time` +
          (longest === undefined ? "" : `; nothing waited more than ${longest.milliseconds} ms for the engine`),
      );
    const ratio = path.minutes / least.minutes;
    holds(
      ratio <= allowance,
      `${shortMinutes(path.minutes)} min is ${Math.round((ratio - 1) * 100)} % more than the unavoidable ${shortMinutes(least.minutes)}: ${chain}`,
    );
    return `${shortMinutes(path.minutes)} min, ${Math.round((ratio - 1) * 100)} % over the unavoidable`;
  }

  #verify(): Promise<string> {
    const { engine, name } = this.#parts;
    return verifyStack(engine, name, [], undefined, expectedFaults);
  }
}
