/** Ray on the stack's RayCluster: placement, work, the autoscaler, tokens, and the loss of the head. */

import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../../e2e/support/daemon.ts";
import { checkPlacement, rayClusterReady } from "../../e2e/support/placement.ts";
import { holds } from "../../e2e/support/report.ts";
import { podsOf, readyPods, type Subject } from "../support.ts";
import { configured, namespace, ray } from "../surroundings.ts";

export const heads = "ray.io/node-type=head,ray.io/cluster=geneva";
export const workers = "ray.io/node-type=worker,ray.io/cluster=geneva";

/** Runs a program of Python in the head's container. @returns what it printed */
export const python = ({ kubectl }: Pick<Subject, "kubectl">, head: string, program: string): Promise<string> =>
  kubectl(["-n", namespace, "exec", head, "-c", "ray-head", "--", "python", "-c", program]);

export async function checkRay(subject: Subject): Promise<void> {
  const { surroundings, report } = subject;
  const { api } = surroundings;
  await report.check("KubeRay reports the RayCluster as ready", () => rayClusterReady(api, namespace, "geneva", 900));
  await report.check("a task runs on a worker, which the autoscaler adds, and then removes", () => scale(subject));
  await report.check("ray job submit runs a job", async () => {
    const [head] = await readyPods(surroundings, heads);
    const { kubectl } = subject;
    const place = ["-n", namespace, "exec", head.metadata.name, "-c", "ray-head", "--"];
    const submit = ["ray", "job", "submit", "--address", "http://127.0.0.1:8265", "--", "python", "-c"];
    const said = await kubectl([...place, ...submit, "import ray; ray.init(); print('answer', 6 * 7)"]);
    holds(said.includes("answer 42") && said.includes("succeeded"), said.slice(-1500));
    const jobs = await kubectl([...place, "ray", "job", "list", "--address", "http://127.0.0.1:8265"]);
    holds(/SUCCEEDED/.test(jobs), jobs);
    const field = (name: string) => new RegExp(`\\b${name}=<?'?([\\w.: ]+)`).exec(jobs)?.[1];
    return `the dashboard lists ${field("submission_id")}, ${field("status")}, ${field("entrypoint")}`;
  });
  await report.check("the head's loss ends its cluster's state, and KubeRay makes another head", () =>
    loseHead(subject),
  );
}

/** A task that needs a CPU, which the head does not offer. */
const task = `
import ray, socket
ray.init(address="auto", logging_level="error")
@ray.remote(num_cpus=1)
def where():
    return socket.gethostname()
print("ran on", ray.get(where.remote(), timeout=800))`;

async function scale(subject: Subject): Promise<string> {
  const { surroundings } = subject;
  const [head] = await readyPods(surroundings, heads, { seconds: 900 });
  const started = performance.now();
  const said = await python(subject, head.metadata.name, task);
  const pod = /ran on (\S+)/.exec(said)?.[1] ?? "";
  const added = Math.round((performance.now() - started) / 1000);
  const running = await podsOf(surroundings, workers);
  holds(
    running.some(({ metadata }) => metadata.name === pod),
    `it ran on ${pod}, and the workers are ${running.map(({ metadata }) => metadata.name).join(", ")}`,
  );
  const placed = await checkPlacement(surroundings.api, {
    expected: { "ray-head": 1, "ray-worker-cpu": 1 },
    apart: surroundings.own !== undefined,
  });
  const idle = performance.now();
  await until(
    "the worker's removal",
    async () => ((await podsOf(surroundings, workers)).length === 0 ? true : undefined),
    { seconds: 600, every: 1000 },
  );
  return `on ${pod} after ${added} s (${placed}), removed ${Math.round((performance.now() - idle) / 1000)} s later`;
}

async function loseHead(subject: Subject): Promise<string> {
  const { surroundings, kubectl } = subject;
  const [before] = await readyPods(surroundings, heads);
  const mark = 'import ray; ray.init(address="auto", namespace="nodes", logging_level="error")\n';
  const keep = `${mark}
@ray.remote(num_cpus=0)
class Kept:
    def ping(self): return 1
ray.get(Kept.options(name="kept", lifetime="detached").remote().ping.remote())`;
  await python(subject, before.metadata.name, keep);
  await kubectl(["-n", namespace, "delete", "pod", before.metadata.name, "--wait=false"]);
  await sleep(1000);
  const [after] = await readyPods(surroundings, heads, { seconds: 900 });
  holds(after.metadata.name !== before.metadata.name, "the head is the same");
  const seen = await python(subject, after.metadata.name, `${mark}print(ray.util.list_named_actors())`);
  holds(seen.includes("[]"), `the new head knows ${seen}`);
  await rayClusterReady(surroundings.api, namespace, "geneva", 600);
  return `${before.metadata.name}, then ${after.metadata.name} without the actor of before`;
}

/** `ray.auth: token`: the stack changes, and the cluster is made anew. */
export async function checkRayToken(subject: Subject): Promise<void> {
  const { surroundings, stack, report, kubectl } = subject;
  const configuration = configured(surroundings) as Record<string, object>;
  await report.check("with ray.auth: token Ray refuses a stranger and takes the token's owner", async () => {
    const [before] = await podsOf(surroundings, heads);
    await stack.configure({ ...configuration, "lakehead:ray": { ...ray, auth: "token" } });
    await stack.up();
    await until(
      "the head with tokens",
      async () => {
        const [pod] = await podsOf(surroundings, heads);
        return pod !== undefined && pod.metadata.name !== before?.metadata.name ? true : undefined;
      },
      { seconds: 400, every: 1000 },
    );
    const [head] = await readyPods(surroundings, heads, { seconds: 900 });
    const ask = (without: boolean) =>
      kubectl(
        ["-n", namespace, "exec", head.metadata.name, "-c", "ray-head", "--"].concat(
          without ? ["env", "-u", "RAY_AUTH_TOKEN", "-u", "RAY_AUTH_MODE", "HOME=/tmp"] : [],
          ["ray", "job", "list", "--address", "http://127.0.0.1:8265"],
        ),
      ).then(
        () => "accepted",
        (error: Error & { stderr?: string }) => `${error.stderr ?? ""}${error.message}`,
      );
    const stranger = await ask(true);
    holds(
      stranger !== "accepted" && /401|nauthorized|nauthenticated|authentication/i.test(stranger),
      stranger.slice(-1500),
    );
    const owner = await ask(false);
    holds(owner === "accepted", owner.slice(-1500));
    return `a stranger: ${/401|[Uu]nauth\w+/.exec(stranger)?.[0] ?? "refused"}`;
  });
}
