import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { writeTables } from "../../tools/lance-tables.ts";
import { expectAccessible, useConsole } from "./browser.ts";

const rowCount = 12_000;
const dimensions = 16;

let home: string;
const { open, service } = useConsole(async () => {
  home = await mkdtemp(join(tmpdir(), "lakehead-map-"));
  await writeTables(join(home, "data"), [
    {
      namespace: [],
      name: "clusters",
      columns: { id: "integer", kind: "text", score: "number", vector: { vector: dimensions } },
      batches: [
        Array.from({ length: rowCount }, (_, id) => ({
          id: BigInt(id),
          kind: id % 2 === 0 ? "even" : "odd",
          score: id / 7,
          // Far apart in the first direction, spread in the second.
          vector:
            id === 5
              ? null
              : Array.from({ length: dimensions }, (_, at) =>
                  at === 0 ? (id % 2) * 100 : at === 1 ? (id * 7919) % 40 : ((id + at) % 7) / 100,
                ),
        })),
      ],
      indices: [],
    },
    { namespace: [], name: "plain", columns: { id: "integer" }, batches: [[{ id: 1n }]], indices: [] },
  ]);
  return { copyOf: join(home, "data") };
});
afterAll(() => rm(home, { recursive: true, force: true }));

/** The colours of the canvas that many pixels have. */
const colours = (page: Page): Promise<number> =>
  page.evaluate(`(() => {
    const canvas = document.querySelector("canvas.map");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const counts = new Map();
    for (let at = 0; at < data.length; at += 4) {
      if (data[at + 3] < 150) continue;
      const key = [data[at] >> 5, data[at + 1] >> 5, data[at + 2] >> 5].join();
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return [...counts.values()].filter((count) => count > 500).length;
  })()`);

test("5,000 of the vectors are drawn, coloured by a column, and said in words", async () => {
  const { page, problems } = await open("/map/clusters");
  let largest = 0;
  page.on("response", async (response) => {
    if (response.url().endsWith("/query")) largest = Math.max(largest, (await response.body().catch(() => "")).length);
  });
  await page.getByText("of 12,000 rows by their first two principal components").waitFor();
  await page.getByLabel("Colours").selectOption("kind");
  await page.getByRole("row", { name: /even 2,\d{3}/ }).waitFor();
  await page.getByRole("row", { name: /odd 2,\d{3}/ }).waitFor();
  await expect.poll(() => colours(page)).toBe(2);
  expect(await page.getByRole("main").textContent()).toMatch(/have 9\d% and \d% of the variance/);
  expect(largest).toBeLessThan(2 * 2 ** 20);
  await page.getByLabel("Colours").selectOption("score");
  await page
    .getByRole("row", { name: /to below/ })
    .first()
    .waitFor();
  await expectAccessible(page);
  expect(problems).toEqual([]);
});

test("a row and its nearest are marked by a click, and the address keeps them", async () => {
  const { page, problems } = await open("/map/clusters?color=kind&row=7");
  const nearest = page.getByRole("region", { name: "Nearest rows" });
  await nearest.getByText("odd").first().waitFor();
  expect(await nearest.getByRole("cell", { name: "even" }).count()).toBe(0);
  await page.getByRole("heading", { name: "Nearest to row 7" }).waitFor();
  await nearest.getByRole("button", { name: /^Mark/ }).nth(3).click();
  await expect.poll(() => page.url()).not.toContain("row=7");
  const marked = page.url();
  expect(marked).toMatch(/color=kind&row=\d+$/);
  const heading = await page.getByRole("heading", { name: /^Nearest to row/ }).textContent();
  await page.reload();
  await page.getByRole("heading", { name: heading ?? "" }).waitFor();
  const canvas = page.locator("canvas.map");
  const { width = 0, height = 0 } = (await canvas.boundingBox()) ?? {};
  // The points of a cluster stand above each other, at the left and the right of the middle.
  const points = await page.evaluate<number[]>(`(() => {
    const canvas = document.querySelector("canvas.map");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const at = data.findIndex((value, index) => index % 4 === 3 && value > 150) >> 2;
    return [at % canvas.width, Math.floor(at / canvas.width)];
  })()`);
  expect(points.every((value, axis) => value > 0 && value < (axis === 0 ? width : height))).toBe(true);
  await canvas.click({ position: { x: points[0] ?? 0, y: (points[1] ?? 0) + 2 } });
  await expect.poll(() => page.url()).not.toBe(marked);
  await page.goBack();
  await expect.poll(() => page.url()).toBe(marked);
  await expectAccessible(page);
  expect(problems).toEqual([]);
});

test("a row that is not there, and a table without vectors, are said", async () => {
  const { page } = await open("/map/clusters?row=99999999");
  await page.getByRole("alert").getByText("the table has no such row").waitFor();
  await page.getByRole("img", { name: /points of vector on a plane/ }).waitFor();
  await page.goto(`${service().base}/console/#/map/plain`);
  await page.getByText("The table has no column of vectors.").waitFor();
});
