import { Table, tableToIPC, Utf8, vectorFromArray } from "apache-arrow";
import { parquetWriteBuffer } from "hyparquet-writer";
import type { Page } from "playwright-core";
import { expect, inject, test } from "vitest";
import { staticToken } from "../support/static-token.ts";
import { expectAccessible, useConsole } from "./browser.ts";

const appender = staticToken("appender", "token-that-adds-rows", ["read", "write"]);

const { open, service } = useConsole(() => ({
  copyOf: inject("tables"),
  tokens: [appender],
  environment: { LAKEHEAD_WRITES: "on", LAKEHEAD_MAX_WRITE_BYTES: "1048576" },
}));

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

const choose = (page: Page, name: string, content: string | Uint8Array) =>
  page.locator("input[type=file]").setInputFiles({ name, mimeType: "", buffer: Buffer.from(content) });

const columns = (page: Page) => page.getByRole("region", { name: "Columns of the file" });
const countRows = async (table: string) => (await service().call("count_rows", table)).body;

test("a dropped CSV file makes a table with the types of its values, of which the reader can choose others", async () => {
  const { page, problems } = await open("/upload");
  await page.getByLabel("Table", { exact: true }).fill("towns");
  const csv = [
    "id,name,price,zip,at,vector",
    '1,Oslo,12.5,0150,2026-01-31T12:30:00.123456Z,"[0.1, 0.2]"',
    '2,"Rome, ""Italy""",13,0151,2026-01-31T12:30:00Z,"[0.3, 0.4]"',
    "3,,,,,",
  ].join("\n");
  await page.evaluate(`(() => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([${JSON.stringify(csv)}], "towns.csv"));
    const drop = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
    document.querySelector(".drop").dispatchEvent(drop);
  })()`);
  await columns(page).waitFor();
  await page.getByLabel("Type of price").selectOption("Float32");
  await page.getByRole("region", { name: "First rows" }).getByText('Rome, "Italy"').waitFor();
  await expectAccessible(page);
  await button(page, "Create the table with 3 rows").click();
  await page.getByText("3 rows are in towns, version").waitFor();
  const { body } = await service().call("describe", "towns");
  const fields = (body as { schema: { fields: { name: string; type: { type: string; length?: number } }[] } }).schema
    .fields;
  expect(fields.map(({ name, type }) => [name, type.type, type.length])).toEqual([
    ["id", "int64", undefined],
    ["name", "utf8", undefined],
    ["price", "float32", undefined],
    ["zip", "utf8", undefined],
    ["at", "timestamp", undefined],
    ["vector", "fixed_size_list", 2],
  ]);
  await page.getByRole("link", { name: "towns" }).last().click();
  await page.getByText("2026-01-31 12:30:00.123456").waitFor();
  await page.getByRole("img", { name: "2 numbers: 0.3, 0.4" }).waitFor();
  expect(problems).toEqual([]);
});

test("rows that do not fit a table are named with row, column and reason, and the others are added", async () => {
  const { page, problems } = await open("/upload/plain", "token-that-adds-rows");
  const before = (await countRows("plain")) as number;
  await choose(page, "more.csv", "id\n7\nseven\n8\n9.5\n");
  const notice = page.getByRole("alert");
  await notice.getByText("2 rows do not fit").waitFor();
  await notice.getByText(/^Row 2, id: "seven" is not a whole number from -\d+ to \d+$/).waitFor();
  await expectAccessible(page);
  expect(await button(page, "Add 2 rows").isDisabled()).toBe(true);
  await page.getByLabel("Leave out what does not fit").check();
  await button(page, "Add 2 rows").click();
  await page.getByText("2 rows are in plain").waitFor();
  expect(await countRows("plain")).toBe(before + 2);
  expect(problems).toEqual([]);
});

test("a file that does not fit the table, or cannot be read, is refused before anything is sent", async () => {
  const { page, problems } = await open("/upload/plain");
  const writes: string[] = [];
  page.on("request", (request) => /create|insert/.test(request.url()) && writes.push(request.url()));
  await choose(page, "other.csv", "id,nane\n1,a\n");
  await page.getByRole("alert").getByText("nane: the table has no such column").waitFor();
  expect(await page.getByRole("button", { name: /^Add/ }).isDisabled()).toBe(true);
  await choose(page, "short.csv", "id,name\n1\n");
  await page.getByRole("alert").getByText("row 1 has 1 fields, and the first line has 2 names").waitFor();
  await choose(page, "notes.docx", "x");
  await page.getByRole("alert").getByText("the name must end with .csv").waitFor();
  await choose(page, "broken.parquet", "x".repeat(100));
  await page.getByRole("alert").getByText("broken.parquet cannot be read").waitFor();
  expect([problems, writes]).toEqual([[], []]);
});

test("a Parquet file keeps its types, lists of one length become vectors, and times their microseconds", async () => {
  const { page, problems } = await open("/upload/measured");
  const file = parquetWriteBuffer({
    columnData: [
      { name: "id", data: [1n, 2n] },
      { name: "name", data: ["a", "b"] },
      { name: "at", data: [1_769_862_600_123_456n, 0n] },
      { name: "ok", data: [true, false] },
    ],
    schema: [
      { name: "root", num_children: 4 },
      { name: "id", type: "INT64", repetition_type: "OPTIONAL" },
      { name: "name", type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "OPTIONAL" },
      { name: "at", type: "INT64", converted_type: "TIMESTAMP_MICROS", repetition_type: "OPTIONAL" },
      { name: "ok", type: "BOOLEAN", repetition_type: "OPTIONAL" },
    ],
  });
  await choose(page, "measured.parquet", new Uint8Array(file));
  await columns(page).getByText("Timestamp<MICROSECOND, UTC>").waitFor();
  await button(page, "Create the table with 2 rows").click();
  await page.getByText("2 rows are in measured").waitFor();
  await page.getByRole("link", { name: "measured" }).last().click();
  await page.getByText("2026-01-31 12:30:00.123456").waitFor();
  expect(problems).toEqual([]);
});

test("an Arrow file that is larger than one request takes several, and says how far it is", async () => {
  const { page, problems } = await open("/upload/many");
  const count = 100_000;
  const rows = new Table({
    id: vectorFromArray(Int32Array.from({ length: count }, (_, id) => id)),
    text: vectorFromArray(
      Array.from({ length: count }, (_, id) => `text of row ${id}`),
      new Utf8(),
    ),
  });
  const requests: number[] = [];
  page.on("response", (response) => /create|insert/.test(response.url()) && requests.push(response.status()));
  await choose(page, "many.arrow", tableToIPC(rows, "file"));
  await button(page, "Create the table with 100,000 rows").click();
  await page.getByText("100,000 rows are in many").waitFor();
  expect(await countRows("many")).toBe(count);
  expect(requests.filter((status) => status === 200).length).toBeGreaterThan(2);
  expect(
    (await service().call("count_rows", "many", { predicate: "text = 'text of row 99999' AND id = 99999" })).body,
  ).toBe(1);
  expect(problems).toEqual([]);
});

test("credentials that may add rows may not make tables, and the page says which scope is missing", async () => {
  const { page, problems } = await open("/upload/nothing-yet", "token-that-adds-rows");
  await page.getByText("Requires the scope manage").waitFor();
  await page.goto(`${service().base}/console/#/upload/plain`);
  await page.getByText("Its rows stay").waitFor();
  expect(problems).toEqual([]);
});
