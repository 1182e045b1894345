import { once } from "node:events";
import { readdirSync } from "node:fs";
import type { Socket } from "node:net";
import { afterAll, afterEach, beforeAll, expect, inject, test, vi } from "vitest";
import { openRaw } from "../../hostile/support/raw.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../../support/service-process.ts";
import { staticToken } from "../../support/static-token.ts";
import { longTimeouts, until } from "../workers/support.ts";
import { asRows, plainStream, writesOn } from "./support.ts";

vi.setConfig(longTimeouts);

const mebibyte = 2 ** 20;
const bob = { token: "bob" };

const start = (environment: Readonly<Record<string, string>>): Promise<ServiceProcess> =>
  startReadyServiceProcess({
    copyOf: inject("tables"),
    tokens: [staticToken("alice", "alice"), staticToken("bob", "bob")],
    environment: { ...writesOn, ...environment },
  });

/** The service as a process with two tenants, of which one sends bodies and stops halfway. */
let patient: ServiceProcess;
/** The same, which waits half a second for the rest of a body. */
let impatient: ServiceProcess;
beforeAll(async () => {
  [patient, impatient] = await Promise.all([
    start({
      LAKEHEAD_MAX_WRITE_BYTES: String(mebibyte),
      LAKEHEAD_MAX_UPLOAD_BYTES: String(4 * mebibyte),
      LAKEHEAD_MAX_BODY_BYTES: String(8 * mebibyte),
    }),
    start({ LAKEHEAD_BODY_STALL_SECONDS: "0.5" }),
  ]);
});
afterAll(() => Promise.all([patient.stop(), impatient.stop()]));

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Alice's request, of whose body so many bytes arrive. @returns what is answered, once there is something. */
const stall = async (
  service: ServiceProcess,
  operation: string,
  type: string,
  declared: number,
  bytes: number,
): Promise<() => string> => {
  const socket = await openRaw(service.port);
  sockets.push(socket);
  let text = "";
  socket
    .on("error", () => undefined)
    .on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
  const headers = ["host: x", "authorization: Bearer alice", `content-type: ${type}`, `content-length: ${declared}`];
  socket.write([`POST /v1/table/plain/${operation} HTTP/1.1`, ...headers, "", ""].join("\r\n"));
  await new Promise<void>((resolve) => socket.write(Buffer.alloc(bytes, " "), () => resolve()));
  return () => text;
};

const arrow = "application/vnd.apache.arrow.stream";

const uploaded = async (service: ServiceProcess): Promise<number> => {
  const metrics = await (await fetch(`${service.operationsBase}/metrics`)).text();
  return Number(/^lakehead_upload_bytes (\d+)/m.exec(metrics)?.[1]);
};

test("a caller whose uploads stall leaves room for the rows of others", async () => {
  const bytes = Math.floor((4 * mebibyte) / 18);
  const answers = await Promise.all(Array.from({ length: 18 }, () => stall(patient, "insert", arrow, mebibyte, bytes)));
  // All that she sends has arrived, or a part of it is refused.
  await until(async () => answers.some((text) => text() !== "") || (await uploaded(patient)) === 18 * bytes);
  const rows = asRows(plainStream(Array.from({ length: 5000 }, (_, id) => id)), bob);
  expect(await patient.call("insert", "plain", undefined, rows)).toMatchObject({ status: 200 });
});

test.each([
  ["rows", "insert", arrow],
  ["JSON", "update", "application/json"],
])("a body of %s that stalls is answered with 408, and its connection is closed", async (_, operation, type) => {
  const descriptors = (): number => readdirSync(`/proc/${impatient.running.child.pid}/fd`).length;
  const before = descriptors();
  const count = 50;
  const answers = await Promise.all(
    Array.from({ length: count }, () => stall(impatient, operation, type, mebibyte, 5000)),
  );
  await Promise.all(sockets.map((socket) => once(socket, "close")));
  for (const text of answers)
    expect(text()).toMatch(/^HTTP\/1.1 408 .*less than 8192 bytes of the body arrived in 0.5 s/s);
  await until(() => descriptors() < before + count / 2);
  expect(await uploaded(impatient)).toBe(0);
});

test("a caller whose JSON bodies stall leaves room for those of others", async () => {
  const size = 7 * mebibyte;
  await Promise.all(Array.from({ length: 5 }, () => stall(patient, "stats", "application/json", size + 1, size)));
  const body = `{"context":{}${" ".repeat(mebibyte)}}`;
  expect(await patient.call("stats", "plain", undefined, { ...bob, rawBody: body })).toMatchObject({ status: 200 });
});
