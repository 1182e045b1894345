/**
 * `npm run test:nodes [-- [--built] [--keep [--empty]] [--local-chart] [subject…]]`: the stack `local` on real nodes, whose pods
 * run.
 *
 * With KUBECONFIG it runs on that cluster. Without, it makes one on this machine, in namespaces of its own: control plane,
 * containerd, kubelets, network. A missing part is one line and no failure. `--built` runs only if the parts from Go modules
 * are in the cache. `--keep` leaves the cluster with the stack running until Ctrl-C, and with `--empty` the cluster alone.
 * `--local-chart`, for KUBECONFIG, takes KubeRay's chart and definitions from its Go module, as a cluster of the suite's own
 * does, in place of the released ones.
 */

import { existsSync, realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { cachePath } from "../../tools/parts/cache.ts";
import { goPart, MissingPart, unbuilt } from "../../tools/parts/control-plane/go.ts";
import { requirePrograms } from "../../tools/parts/nodes/programs.ts";
import { pythonWith } from "../../tools/parts/python.ts";
import { operatorChart } from "../e2e/support/operator-chart.ts";
import { Report } from "../e2e/support/report.ts";
import { minioProgram } from "../stores/minio.ts";
import { checkAbandoned } from "./abandoned.ts";
import { prepareGeneva } from "./checks/geneva.ts";
import { goPartsOfNodes } from "./cluster/cluster.ts";
import { imageRoot } from "./cluster/containerd.ts";
import { allImages } from "./cluster/images.ts";
import { hiddenInside, runInside } from "./cluster/isolation.ts";

const { values: options, positionals } = parseArgs({
  options: {
    built: { type: "boolean" },
    keep: { type: "boolean" },
    empty: { type: "boolean" },
    "local-chart": { type: "boolean" },
  },
  allowPositionals: true,
});
const log = (line: string): void => void process.stdout.write(`  … ${line}\n`);
const storeRequirements = fileURLToPath(new URL("../stores/requirements.txt", import.meta.url));
const inside = fileURLToPath(new URL("./inside.ts", import.meta.url));

/** Builds or finds what the namespaces cannot fetch. @throws MissingPart */
async function prepare(): Promise<NodeJS.ProcessEnv> {
  await requirePrograms();
  const missing = options.built === true ? unbuilt(goPartsOfNodes) : [];
  if (missing.length > 0)
    throw new MissingPart(`${missing.join(", ")} not built: run npm run build:e2e, which takes some forty minutes`);
  for (const name of goPartsOfNodes) await goPart(name, log);
  const store = await pythonWith(storeRequirements, log);
  if (store.python === undefined) throw new MissingPart(store.missing);
  if (positionals.includes("geneva")) await prepareGeneva(log);
  if (positionals.includes("functions")) {
    const { missing: store } = await minioProgram(log);
    if (store !== undefined) throw new MissingPart(store);
  }
  return {
    LAKEHEAD_NODES_STORE: store.python,
    LAKEHEAD_NODES_IMAGES: await imageRoot(await allImages(log), log),
    LAKEHEAD_NODES_OPERATOR: JSON.stringify(await operatorChart()),
  };
}

const { KUBECONFIG } = process.env;
const own = KUBECONFIG === undefined || KUBECONFIG === "";
if (!own && !existsSync(KUBECONFIG)) {
  process.stderr.write(
    `KUBECONFIG=${KUBECONFIG}: there is no such file; name one, or unset it for a cluster of this suite's own\n`,
  );
  process.exit(2);
}
const hidden = own
  ? [
      hiddenInside("the clone", realpathSync(fileURLToPath(new URL("../../", import.meta.url)))),
      hiddenInside("node", process.execPath),
      hiddenInside("LAKEHEAD_TEST_CACHE", cachePath()),
    ].filter((fault) => fault !== undefined)
  : [];
if (hidden.length > 0) {
  process.stderr.write(`${hidden.join("\n")}\n`);
  process.exit(2);
}
const started = performance.now();
try {
  const env = own ? await prepare() : {};
  if (own) {
    const report = new Report();
    await report.check("kill -9 of the suite leaves nothing behind", checkAbandoned);
    if (report.end() !== 0) process.exit(1);
  }
  log(`parts ready after ${Math.round((performance.now() - started) / 1000)} s`);
  const flags = (["keep", "empty"] as const).filter((name) => options[name] === true).map((name) => `--${name}`);
  const args = [...flags, ...positionals];
  const entered = (command: string) => options.keep === true && log(`to enter: ${command} kubectl get pods -A`);
  if (own) process.exitCode = await runInside([process.execPath, inside, ...args], env, entered);
  else {
    if (options["local-chart"] === true) process.env.LAKEHEAD_NODES_OPERATOR = JSON.stringify(await operatorChart());
    process.argv = [process.argv[0] ?? "", inside, ...args];
    await import("./inside.ts");
  }
} catch (error) {
  if (!(error instanceof MissingPart)) throw error;
  const report = new Report();
  report.skip("all", error.message);
  process.exitCode = report.end();
}
