/**
 * The charts that the stacks install, rendered by Helm with the values of the plans. Helm ignores a value that a chart does not
 * know, so another value in its place must make something else, or be refused.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import type { Capture } from "../../infra/offline-plan/capture.ts";
import { eks, kueue as pinnedKueue } from "../../infra/versions.ts";
import { cachePath } from "../../tools/parts/cache.ts";
import { goModule, goPart, unbuilt } from "../../tools/parts/control-plane/go.ts";
import { kueue } from "../../tools/parts/control-plane/table.ts";
import { type Manifest, revealed } from "../infra/kubernetes/manifests.ts";
import { schemaErrors } from "../infra/program/checks/schemas.ts";
import type { Judgement, Skipped } from "./scanners/judge.ts";

const run = promisify(execFile);

type Values = Readonly<Record<string, unknown>>;
interface Release {
  readonly name: string;
  readonly namespace: string;
  readonly chart: string;
  readonly version: string;
  readonly repositoryOpts?: { readonly repo: string };
  readonly values: Values;
}

/** Once for each chart and its values. */
function releasesOf(captures: readonly Capture[]): Release[] {
  const found = captures
    .flatMap(({ resources }) => resources.filter(({ type }) => type === "kubernetes:helm.sh/v3:Release"))
    .map((resource) => revealed(resource) as unknown as Release);
  return [...new Map(found.map((release) => [JSON.stringify([release.chart, release.values]), release])).values()];
}

/** A folder with charts, by name and version, for a machine that does not reach the repositories. */
const folder = process.env.LAKEHEAD_TEST_CHARTS;

/** Path of a chart, in a cache outside of the repository. */
async function findChart(helm: string, { chart, version, repositoryOpts }: Release): Promise<string> {
  const name = chart.split("/").at(-1) ?? chart;
  if (name === "kueue" && version === pinnedKueue.version)
    return join(await goModule(kueue.module, `v${version}`), kueue.chart);
  for (const form of [`${name}-${version}`, `${name}-${version}.tgz`])
    if (folder !== undefined && existsSync(join(folder, form))) return join(folder, form);
  const file = `${name}-${version}.tgz`;
  const home = cachePath("charts");
  if (existsSync(join(home, file))) return join(home, file);
  await mkdir(home, { recursive: true });
  const draft = await mkdtemp(join(home, "unfinished-"));
  try {
    const source = repositoryOpts === undefined ? [chart] : [chart, "--repo", repositoryOpts.repo];
    await run(helm, ["pull", ...source, "--version", version, "--destination", draft], { timeout: 60_000 });
    await rename(join(draft, file), join(home, file));
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return join(home, file);
}

const isMap = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;

const paths = (values: Values, above: readonly string[] = []): (readonly string[])[] =>
  Object.entries(values).flatMap(([key, value]) => (isMap(value) ? paths(value, [...above, key]) : [[...above, key]]));

const another = (value: unknown): unknown => {
  if (typeof value === "boolean") return !value;
  if (typeof value === "number") return value + 1;
  // A file in a value is of JSON.
  if (typeof value === "string") return value.startsWith("{") ? "{}" : `${value}x`;
  return Array.isArray(value) ? [] : { other: "x" };
};

/** With another value at the path. */
function changed(values: Values, [key = "", ...rest]: readonly string[]): Values {
  const inner = values[key];
  return { ...values, [key]: rest.length > 0 && isMap(inner) ? changed(inner, rest) : another(inner) };
}

async function judge(helm: string, release: Release, chart: string): Promise<string[]> {
  const scratch = await mkdtemp(join(tmpdir(), "lakehead-chart-"));
  try {
    const render = async (values: Values): Promise<string> => {
      const file = join(scratch, "values.json");
      await writeFile(file, JSON.stringify(values));
      const place = [release.name, chart, "--namespace", release.namespace, "--kube-version", `${eks.default}.0`];
      const { stdout } = await run(helm, ["template", ...place, "--include-crds", "--values", file], {
        maxBuffer: 2 ** 27,
      });
      return stdout;
    };
    const text = await render(release.values);
    const faults: string[] = [];
    for (const path of paths(release.values)) {
      const other = await render(changed(release.values, path)).catch(() => undefined);
      if (other === text) faults.push(`${path.join(".")} changes nothing`);
    }
    const objects = parseAllDocuments(text)
      .map((document) => document.toJS() as Manifest | null)
      .filter((object) => object !== null)
      .flatMap((object) => (object.kind === "List" ? (object as unknown as { items: Manifest[] }).items : [object]));
    const definitions = objects.filter(({ kind }) => kind === "CustomResourceDefinition");
    const ownGroups = new Set(definitions.map((one) => (one as unknown as { spec: { group: string } }).spec.group));
    for (const body of objects)
      if (!definitions.includes(body) && !ownGroups.has(body.apiVersion.split("/")[0] ?? ""))
        faults.push(...(await schemaErrors({ ...body, body })));
    return faults;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

export async function judgeCharts(
  captures: readonly Capture[],
  log: (line: string) => void,
): Promise<readonly (Judgement | Skipped)[]> {
  if (unbuilt(["helm"]).length > 0) return [{ skipped: "charts: Helm is not built: npm run build:e2e -- helm" }];
  const helm = join(await goPart("helm", log), "helm");
  const judged: (Judgement | Skipped)[] = [];
  const missing = new Set<string>();
  for (const release of releasesOf(captures)) {
    const what = `${release.chart.split("/").at(-1)} ${release.version}`;
    const chart = await findChart(helm, release).catch(() => {
      missing.add(what);
      return undefined;
    });
    if (chart !== undefined)
      judged.push({
        what: `the chart ${what} by Helm, with ${release.name}'s values`,
        faults: await judge(helm, release, chart),
      });
  }
  if (missing.size > 0)
    judged.push({
      skipped: `charts that neither their repositories nor LAKEHEAD_TEST_CHARTS have: ${[...missing].join(", ")}`,
    });
  return judged;
}
