/** The suite where the cluster is: in the namespaces that `main.ts` makes, or anywhere with KUBECONFIG. */

import { once } from "node:events";
import { parseArgs } from "node:util";
import { MissingPart } from "../../tools/parts/control-plane/go.ts";
import { counted, openStack } from "../e2e/local/lifecycle.ts";
import { leftBehind } from "../e2e/support/left-behind.ts";
import { Report } from "../e2e/support/report.ts";
import { checkAvailability } from "./checks/availability.ts";
import { checkFunctions } from "./checks/functions.ts";
import { checkGeneva } from "./checks/geneva.ts";
import { checkLifecycle } from "./checks/lifecycle.ts";
import { checkLimits } from "./checks/limits.ts";
import { checkMaintenance } from "./checks/maintenance.ts";
import { checkNetworkPolicies } from "./checks/network-policies.ts";
import { checkOrphanCleanup } from "./checks/orphan-cleanup.ts";
import { checkRay, checkRayToken } from "./checks/ray.ts";
import { checkTableService } from "./checks/table-service.ts";
import { checkVerification } from "./checks/verification.ts";
import { type Store, startStore } from "./cluster/object-store.ts";
import {
  closeElsewhere,
  kubectlOf,
  openElsewhere,
  readyPods,
  type Subject,
  tableServicePods,
  writeTable,
} from "./support.ts";
import { groundOf, openSurroundings, type Surroundings } from "./surroundings.ts";

/** In this order: what changes the stack comes later, and what deletes it last. */
const subjects: Readonly<Record<string, (subject: Subject) => Promise<void>>> = {
  "table-service": checkTableService,
  limits: checkLimits,
  ray: checkRay,
  "network-policies": checkNetworkPolicies,
  "orphan-cleanup": checkOrphanCleanup,
  verification: checkVerification,
  "ray-token": checkRayToken,
  maintenance: overAnObjectStore("maintenance", checkMaintenance),
  functions: checkFunctions,
  geneva: overAnObjectStore("geneva", checkGeneva),
  availability: overAnObjectStore("availability", checkAvailability),
  lifecycle: checkLifecycle,
};

const pods = ["get", "pods", "-A", "-o", "wide"];

/** Jobs on Ray take minutes, and Geneva's client is a gigabyte of packages. */
const byNameAlone = new Set(["functions", "geneva", "maintenance"]);

/** A subject that needs an object store which the pods reach. */
function overAnObjectStore(name: string, check: (subject: Subject, store: Store) => Promise<void>) {
  return async (subject: Subject): Promise<void> => {
    const { own } = subject.surroundings;
    const { LAKEHEAD_NODES_STORE: python } = process.env;
    if (own === undefined || python === undefined)
      return subject.report.skip(name, "the suite has no object store in the cluster of KUBECONFIG");
    const store = await startStore(python, own.folder);
    try {
      await check(subject, store);
    } finally {
      await store.stop();
    }
  };
}

const { values: options, positionals } = parseArgs({
  options: { keep: { type: "boolean" }, empty: { type: "boolean" } },
  allowPositionals: true,
});
const unknown = positionals.filter((name) => !(name in subjects));
if (unknown.length > 0) {
  process.stderr.write(`no subject ${unknown.join(", ")}: choose from ${Object.keys(subjects).join(", ")}\n`);
  process.exit(2);
}
// With --keep alone, the cluster is for other hands.
const wanted =
  positionals.length > 0 || options.keep === true
    ? positionals
    : Object.keys(subjects).filter((name) => !byNameAlone.has(name));

const report = new Report();
const started = performance.now();
const seconds = (): string => `${Math.round((performance.now() - started) / 1000)} s`;
try {
  const surroundings = await openSurroundings(report.log);
  try {
    report.log(`${surroundings.title}, after ${seconds()}`);
    if (options.empty !== true) await runOn(surroundings);
    if (options.keep === true) {
      report.log(`KUBECONFIG=${surroundings.kubeconfig}; Ctrl-C ends the cluster`);
      await once(process, "SIGINT");
    }
    report.summarize(`${surroundings.title}: ${seconds()}`);
  } finally {
    await surroundings.close();
  }
} catch (error) {
  if (!(error instanceof MissingPart)) throw error;
  report.skip("all", error.message);
}
process.exit(report.end());

async function runOn(surroundings: Surroundings): Promise<void> {
  const before = await leftBehind(surroundings.api);
  const stack = await openStack(groundOf(surroundings, report));
  const subject: Subject = { surroundings, stack, before, report, kubectl: kubectlOf(surroundings) };
  const up = await report.check("pulumi up creates the stack", async () => {
    const outcome = await stack.up();
    return `${counted(outcome)} in ${outcome.seconds.toFixed(0)} s`;
  });
  if (up && wanted.length > 0) {
    await openElsewhere(subject);
    await readyPods(surroundings, tableServicePods);
    await writeTable(subject);
    for (const name of wanted) {
      if (subjects[name] === checkLifecycle) process.stdout.write(await subject.kubectl(pods));
      await checkSubject(name, subject);
    }
    process.stdout.write(await subject.kubectl(pods));
  }
  // A cluster of the suite's own is gone with the suite.
  if (surroundings.own === undefined && options.keep !== true && !wanted.includes("lifecycle"))
    await report.check("pulumi destroy deletes the stack", async () => {
      await closeElsewhere(subject);
      return counted(await stack.destroy());
    });
}

/** Runs one subject and says how long it took. */
async function checkSubject(name: string, subject: Subject): Promise<void> {
  process.stdout.write(`\n${name}\n`);
  const began = performance.now();
  await subjects[name]?.(subject);
  subject.report.log(`${name}: ${Math.round((performance.now() - began) / 1000)} s`);
}
