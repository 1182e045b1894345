import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));

/**
 * The areas of each half, lowest first: an area imports itself and what stands in an earlier row, never a later row.
 * Areas of one row do not import each other. The reasons are in CONTRIBUTING.md.
 */
const rows: Readonly<Record<string, readonly (readonly string[])[]>> = {
  service: [
    ["contract.ts", "errors.ts"],
    ["telemetry"],
    ["config"],
    ["query"],
    ["auth", "functions", "guard", "jobs", "plan-doctor"],
    ["catalog", "lance"],
    ["operations"],
    ["server", "workers"],
    ["console", "maintenance"],
    ["start.ts"],
    ["process-lifecycle.ts"],
    ["main.ts", "quickstart"],
  ],
  infra: [
    ["versions.ts", "command-line.ts", "check-line.ts"],
    ["model", "offline-plan"],
    ["config", "pull-request"],
    ["kubernetes"],
    ["clouds"],
    ["workloads"],
    ["alerts.ts", "index.ts", "preflight", "setup", "steps.ts", "verify"],
  ],
  bootstrap: [
    ["github.ts", "aws-grants.ts"],
    ["config.ts", "aws-permissions.ts", "gcp-permissions.ts"],
    ["aws.ts", "gcp.ts"],
    ["index.ts"],
  ],
};

/** A part with fewer files or imports than these was not read. */
const minimum: Readonly<Record<string, { readonly files: number; readonly imports: number }>> = {
  service: { files: 50, imports: 100 },
  infra: { files: 50, imports: 100 },
  bootstrap: { files: 5, imports: 10 },
};

/** What each half may import from outside itself. The table writer ships no more than the quick start that uses it. */
const across: Readonly<Record<string, readonly string[]>> = {
  // The rules of maintenance are one schema for the service's variable and the stack's key.
  infra: ["service/contract.ts", "service/config/maintenance-policy.ts", "tools/markdown-table.ts"],
  service: ["tools/lance-tables.ts"],
  // The reader of configurations, the decisions of a cloud that both programs share, and the wait for an API of Google.
  bootstrap: [
    "infra/config/load.ts",
    "infra/config/parse.ts",
    "infra/config/report.ts",
    "infra/config/checks/bucket-name.ts",
    "infra/config/checks/regions.ts",
    "infra/clouds/aws/storage/checks.ts",
    "infra/clouds/aws/regions.ts",
    "infra/clouds/aws/schema.ts",
    "infra/clouds/aws/identity/arn.ts",
    "infra/clouds/aws/identity/policy.ts",
    "infra/clouds/aws/identity/storage-policies.ts",
    "infra/clouds/gcp/checks.ts",
    "infra/clouds/gcp/labels.ts",
    "infra/clouds/gcp/regions.ts",
    "infra/clouds/gcp/required-services.ts",
    "infra/clouds/gcp/services.ts",
  ],
};

interface Import {
  readonly from: string;
  readonly to: string;
  /** Erased when the program runs. */
  readonly typeOnly: boolean;
}

const filesOf = (half: string): string[] =>
  readdirSync(join(root, half), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `${half}/${name}`);

const statement =
  /^(?:import|export)\s+(type\s+)?[^"';]*?from\s+"(\.[^"]+)"|\bimport\("(\.[^"]+)"\)|^import\s+"(\.[^"]+)"/gm;

const importsOf = (from: string): Import[] =>
  [...readFileSync(join(root, from), "utf8").matchAll(statement)].map(([, type, first, second, third]) => ({
    from,
    to: normalize(join(dirname(from), first ?? second ?? third ?? "")),
    typeOnly: type !== undefined,
  }));

const areaOf = (path: string): string => path.split("/")[1] ?? "";
const rankOf = (half: string, area: string): number => rows[half]?.findIndex((row) => row.includes(area)) ?? -1;

describe.each(Object.keys(rows))("%s/", (half) => {
  const files = filesOf(half);
  const imports = files.flatMap(importsOf);

  test("every file belongs to an area that has a rank", () => {
    expect(files.length).toBeGreaterThan(minimum[half]?.files ?? Infinity);
    expect(files.filter((path) => rankOf(half, areaOf(path)) === -1)).toEqual([]);
  });

  test("no area imports one of its own rank or above, and of the other half only what is listed", () => {
    expect(imports.length).toBeGreaterThan(minimum[half]?.imports ?? Infinity);
    const wrong = imports.filter(({ from, to, typeOnly }) => {
      if (!to.startsWith(`${half}/`))
        return /^(service|infra|bootstrap|test|bench|tools)\//.test(to) && !across[half]?.includes(to);
      const [own, other] = [areaOf(from), areaOf(to)];
      // The configuration reads variables into each area's own type of its limits, by types alone.
      if (half === "service" && own === "config" && typeOnly) return false;
      return own !== other && rankOf(half, other) >= rankOf(half, own);
    });
    expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
  });

  test("no file imports itself through others", () => {
    const next = Map.groupBy(imports, ({ from }) => from);
    const done = new Set<string>();
    const circles: string[] = [];
    const visit = (path: string, way: readonly string[]): void => {
      if (way.includes(path)) {
        circles.push([...way.slice(way.indexOf(path)), path].join(" -> "));
        return;
      }
      if (done.has(path)) return;
      for (const { to } of next.get(path) ?? []) visit(to, [...way, path]);
      done.add(path);
    };
    for (const path of files) visit(path, []);
    expect(circles).toEqual([]);
  });
});

test("decisions of infra/model import no provider", () => {
  const providers = filesOf("infra")
    .filter((path) => path.startsWith("infra/model/"))
    .filter((path) => /from "@pulumi\//.test(readFileSync(join(root, path), "utf8")));
  expect(providers).toEqual([]);
});

/** The address of a file beside the program. */
const besideIt = /\bnew URL\("([^"]+)", import\.meta\.url\)|\bhere\("([^"]+\.\w+)"\)/g;
const hereIsBesideIt = /\bhere = \((\w+): string\).*new URL\(\1, import\.meta\.url\)/;

test("the files exist that programs read beside themselves, which the compiler does not check", () => {
  const addresses = ["bench", "infra", "service", "test", "tools"].flatMap(filesOf).flatMap((from) => {
    const source = readFileSync(join(root, from), "utf8");
    const isHere = hereIsBesideIt.test(source);
    return [...source.matchAll(besideIt)].flatMap(([, byUrl, byHere]) => {
      const to = byUrl ?? (isHere ? byHere : undefined);
      return to === undefined ? [] : [{ from, to: normalize(join(dirname(from), to)) }];
    });
  });
  expect(addresses.length).toBeGreaterThan(50);
  expect(addresses.filter(({ to }) => !existsSync(join(root, to)))).toEqual([]);
});
