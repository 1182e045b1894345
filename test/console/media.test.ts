import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { blob, connect } from "@lancedb/lancedb";
import { Field, Int64, Schema } from "apache-arrow";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testToken } from "../support/request.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../support/service-process.ts";
import { expectAccessible, launch, openPage, signIn } from "./browser.ts";
import { picture } from "./picture.ts";

const seconds = 60;

/** A tone of a minute: 44,100 samples of two channels per second. */
const sound = (): Buffer => {
  const data = Buffer.alloc(seconds * 44_100 * 4);
  for (let at = 0; at < data.length; at += 2) data.writeInt16LE(Math.round(9000 * Math.sin(at / 40)), at);
  const header = Buffer.from(
    "RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x02\0\0\0\0\0\0\0\0\0\x04\0\x10\0data\0\0\0\0",
    "latin1",
  );
  header.writeUInt32LE(36 + data.length, 4);
  header.writeUInt32LE(44_100, 24);
  header.writeUInt32LE(176_400, 28);
  header.writeUInt32LE(data.length, 40);
  return Buffer.concat([header, data]);
};

/** A film of half a second, which the browser records. */
const film = async (browser: Browser): Promise<Buffer> => {
  const page = await browser.newPage();
  const encoded = await page.evaluate<string>(`new Promise((resolve) => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 64, height: 48 });
    const pen = canvas.getContext("2d");
    const recorder = new MediaRecorder(canvas.captureStream(25), { mimeType: "video/webm" });
    const drawing = setInterval(() => { pen.fillStyle = "#" + Math.random().toString(16).slice(2, 8); pen.fillRect(0, 0, 64, 48); }, 40);
    const parts = [];
    recorder.ondataavailable = ({ data }) => parts.push(data);
    recorder.onstop = async () => resolve(btoa(String.fromCharCode(...new Uint8Array(await new Blob(parts).arrayBuffer()))));
    recorder.start();
    setTimeout(() => { clearInterval(drawing); recorder.stop(); }, 500);
  })`);
  await page.close();
  return Buffer.from(encoded, "base64");
};

let browser: Browser;
let service: ServiceProcess;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "lakehead-media-"));
  browser = await launch();
  const broken = Buffer.concat([Buffer.from("OggS"), Buffer.alloc(200_000)]);
  const html = Buffer.from(`<!doctype html><script>document.title='owned'</script>${" ".repeat(99)}`);
  const values = [picture(800, 900), sound(), await film(browser), broken, html, null, Buffer.alloc(0)];
  const connection = await connect(join(home, "data"));
  await connection.createTable(
    "media",
    values.map((value, id) => ({ id: BigInt(id), value })),
    { schema: new Schema([new Field("id", new Int64()), blob("value")]) },
  );
  connection.close();
  service = await startReadyServiceProcess({ copyOf: join(home, "data"), environment: { LAKEHEAD_CONSOLE: "on" } });
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await service?.stop();
  await rm(home, { recursive: true, force: true });
});

const open = async () => {
  const watched = await openPage(browser);
  const ranges: string[] = [];
  watched.page.on("request", (request) => {
    if (request.url().includes("/blob/value/")) ranges.push(request.headers().range ?? "none");
  });
  await signIn(watched.page, service.base, testToken, "/table/media");
  const load = (row: number) =>
    watched.page.getByRole("button", { name: `Load value of row ${row}`, exact: true }).click();
  const rows = watched.page.getByRole("region", { name: "Rows" });
  return { ...watched, ranges, load, rows };
};

const played = (page: Page, element: string) =>
  expect.poll(() =>
    page.evaluate(
      `(() => { const it = document.querySelector('${element}'); return it !== null && it.currentTime > 0; })()`,
    ),
  );

test("a blob is known by its first bytes, and an image is read in ranges when it is shown", async () => {
  const { page, problems, ranges, load, rows } = await open();
  await load(1);
  await rows.getByText("PNG 800×900, 2.16 MB").waitFor();
  expect(ranges).toEqual(["bytes=0-65535"]);
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await expect.poll(() => page.evaluate("document.querySelector('img.thumbnail').naturalWidth")).toBe(800);
  expect(ranges.length).toBe(2);
  expect(problems).toEqual([]);
});

test("a sound of several ranges plays, at any place of it", async () => {
  const { page, problems, ranges, load, rows } = await open();
  await load(2);
  await rows.getByText("WAV, 10.6 MB").waitFor();
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await played(page, "audio").toBe(true);
  expect(ranges.length).toBe(4);
  await page.evaluate("document.querySelector('audio').currentTime = 50");
  await expect.poll(() => page.evaluate("document.querySelector('audio').currentTime > 50")).toBe(true);
  expect(await page.evaluate("document.querySelector('audio').duration")).toBe(seconds);
  await expectAccessible(page);
  expect(problems).toEqual([]);
});

test("a film plays", async () => {
  const { page, problems, load, rows } = await open();
  await load(3);
  await rows.getByText(/^Matroska, /).waitFor();
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await played(page, "video").toBe(true);
  expect(await page.evaluate("document.querySelector('video').videoWidth")).toBe(64);
  await expectAccessible(page);
  expect(problems).toEqual([]);
});

test("a sound with broken bytes is named; what can run, null and empty values are shown as what they are", async () => {
  const { page, problems, load, rows } = await open();
  await load(4);
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await rows.getByText("no valid Ogg").waitFor();
  for (const row of [5, 6, 7]) await load(row);
  await rows.getByText("bytes, 153 B").waitFor();
  await rows.getByText("null", { exact: true }).waitFor();
  await rows.getByText("0x", { exact: true }).waitFor();
  expect(await page.title()).not.toBe("owned");
  expect(problems).toEqual([]);
});

test("a read that is stopped asks for no further range, and can begin again", async () => {
  const { page, ranges, load, rows } = await open();
  await load(2);
  await rows.getByText("WAV, 10.6 MB").waitFor();
  const held = Promise.withResolvers<void>();
  await page.route(/\/blob\/value\//, async (route) => {
    await held.promise;
    await route.continue().catch(() => undefined);
  });
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByRole("button", { name: "Play", exact: true }).waitFor();
  expect(ranges.length).toBe(2);
  held.resolve();
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await played(page, "audio").toBe(true);
});
