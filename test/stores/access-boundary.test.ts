import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { boundaryExpression } from "../../service/catalog/access-boundary.ts";
import { proveBoundary } from "../../service/catalog/google.ts";
import { placeOf } from "../../service/catalog/place.ts";
import { pythonWith } from "../../tools/parts/python.ts";
import { startGoogleExchange } from "../support/google-exchange.ts";
import { bucketName } from "../support/object-store.ts";
import { startFakeGcs } from "./fake-gcs.ts";

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const [{ python, missing }, store] = await Promise.all([
  pythonWith(here("requirements-cel.txt"), print),
  startFakeGcs(print),
]);
if (python === undefined) print(`skipped: access boundaries by a CEL library, because ${missing} is missing`);
if (store.base === undefined)
  print("skipped: a store that ignores access boundaries, because fake-gcs-server is missing");

afterAll(async () => {
  if ("stop" in store) await store.stop();
});

const tables = ["docs", "docs2", "docs.lance", "a$docs", "a$docs2", "a b$docs", "a$b$docs"].map((id) => {
  const parts = id.split("$");
  const name = parts.at(-1) ?? "";
  const isRoot = parts.length === 1;
  const directory = isRoot ? `${name}.lance` : `0a1b2c3d_${id}`;
  const address = `gs://lake/tables/${isRoot ? directory : encodeURI(directory)}`;
  return placeOf("gs://lake/tables", address, { namespace: parts.slice(0, -1), name, parts, key: id });
});

/** The condition that a list has no prefix, which Google gives as the attribute's absence. */
const listed = (prefix: string | undefined): Record<string, string> =>
  prefix === undefined ? {} : { "storage.googleapis.com/objectListPrefix": prefix };

test.skipIf(python === undefined)("a CEL library lets each expression reach its table and nothing else", () => {
  const questions = tables.flatMap((place) => {
    const expression = boundaryExpression(place);
    const objects = [
      ...tables.flatMap(({ prefix }) => [`${prefix}data/1.lance`, prefix.slice(0, -1), prefix]),
      "tables/x",
      "x",
    ];
    const lists = [
      undefined,
      "",
      "t",
      "tables",
      "tables/",
      ...tables.flatMap(({ prefix }) => [prefix, prefix.slice(0, -1), `${prefix}_versions/`]),
    ];
    return [
      ...["lake", "lake2"].flatMap((bucket) =>
        objects.map((key) => ({
          expression,
          resource: `projects/_/buckets/${bucket}/objects/${key}`,
          attributes: {},
          expected: bucket === "lake" && key.startsWith(place.prefix),
        })),
      ),
      ...lists.map((prefix) => ({
        expression,
        resource: "projects/_/buckets/lake",
        attributes: listed(prefix),
        expected: prefix?.startsWith(place.prefix) === true,
      })),
    ];
  });
  const { stdout, stderr } = spawnSync(python ?? "", [here("evaluate_cel.py")], {
    input: JSON.stringify(questions),
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  const answers: boolean[] = JSON.parse(stdout);
  expect(answers).toHaveLength(questions.length);
  expect(questions.filter(({ expected }, index) => answers[index] !== expected)).toEqual([]);
  // Some are reached, and far more are not.
  const reached = answers.filter(Boolean).length;
  print(`${questions.length} questions to ${tables.length} expressions, ${reached} reached, each in its own table`);
  expect(reached).toBeGreaterThan(tables.length);
  expect(questions.length).toBeGreaterThan(10 * reached);
});

describe.skipIf(store.base === undefined)("fake-gcs-server, which checks no token", () => {
  test("is refused: a token for one prefix lists all", async () => {
    const exchange = await startGoogleExchange({ enforces: true });
    const addresses = { stsUrl: `${exchange.base}/v1/token`, metadataUrl: exchange.base, storageUrl: store.base ?? "" };
    await expect(proveBoundary(addresses, { bucket: bucketName, path: "tables/" })).rejects.toThrow(/not enforced/);
    exchange.close();
  });
});
