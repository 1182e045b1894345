import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { operations } from "../../../service/operations/index.ts";
import { addressOf } from "../../../service/operations/operation.ts";
import { plainSchema, streamOf } from "../../service/writes/support.ts";
import { testToken } from "../../support/request.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../../support/service-process.ts";
import { canaryRequests, fraction, whole, word } from "./canary.ts";

/** An unknown token; the valid one must not appear either. */
const wrongToken = `${word}-token`;
const requestsAtOnce = 8;

interface Failure {
  readonly what: string;
  readonly text: string;
}

interface Seen {
  readonly requests: number;
  readonly failures: readonly Failure[];
  readonly metrics: string;
  readonly output: string;
  readonly traces: string;
}

const receivers: Server[] = [];
afterAll(() => {
  for (const server of receivers) server.close();
});

/** Receives the requests of OpenTelemetry's exporter. */
const receiveTraces = async (into: string[]): Promise<string> => {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    into.push(Buffer.concat(chunks).toString());
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  receivers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`;
};

/** Operations that remove the table or the namespace of all requests come last. */
const ordered = [...operations].sort((one, other) => Number(one.path === "drop") - Number(other.path === "drop"));

const everyRequest = () =>
  ordered.flatMap((operation) =>
    operation.methods.flatMap((method) =>
      [...canaryRequests(addressOf(operation), method.toLowerCase(), testToken)].map((request) => ({
        ...request,
        operation: operation.name,
        rows: operation.input === "arrow" ? canaryRows : undefined,
      })),
    ),
  );

/** Rows of the test table `plain` with canary values. */
const canaryRows = streamOf([{ id: BigInt(whole), text: word, vector: [fraction, 0, 0, 1] }], plainSchema);

const ask = async (
  service: ServiceProcess,
  { method, address, body, operation, rows }: ReturnType<typeof everyRequest>[number],
  token: string,
): Promise<Failure | undefined> => {
  const response = await fetch(service.base + address, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": rows === undefined ? "application/json" : "application/vnd.apache.arrow.stream",
      cookie: `session=${word}`,
      "x-api-key": wrongToken,
      "user-agent": word,
      "x-lance-ctx-token": word,
      "x-lance-ctx-note": `Bearer ${word}`,
    },
    ...(rows === undefined ? (body === undefined ? {} : { body: JSON.stringify(body) }) : { body: rows }),
  });
  const text = await response.text();
  if (response.ok) return undefined;
  return {
    what: `${operation}: ${JSON.stringify(body)} ${address}`,
    text: text + JSON.stringify([...response.headers]),
  };
};

/** @param every sends one of so many requests. */
const drive = async (environment: Readonly<Record<string, string>>, every: number): Promise<Seen> => {
  const traces: string[] = [];
  const service = await startReadyServiceProcess({
    copyOf: inject("tables"),
    environment: {
      LAKEHEAD_LOG_LEVEL: "debug",
      LAKEHEAD_WRITES: "on",
      LAKEHEAD_FUNCTIONS: "on",
      LAKEHEAD_OTLP_ENDPOINT: await receiveTraces(traces),
      OTEL_BSP_SCHEDULE_DELAY: "200",
      ...environment,
    },
  });
  try {
    const all = everyRequest();
    // One of each operation at least.
    const chosen = all.filter(({ operation }, index) => index % every === 0 || operation !== all[index - 1]?.operation);
    const waiting = chosen.flatMap((request, index) =>
      // Every tenth request is also sent with a wrong token, which ends it at authentication.
      (index % 10 === 0 ? [testToken, wrongToken] : [testToken]).map((token) => ({ request, token })),
    );
    const requests = waiting.length;
    const failures: Failure[] = [];
    const take = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const failure = await ask(service, next.request, next.token);
        if (failure !== undefined) failures.push(failure);
      }
    };
    await Promise.all(Array.from({ length: requestsAtOnce }, take));
    const metrics = await (await fetch(`${service.operationsBase}/metrics`)).text();
    await service.stop();
    return { requests, failures, metrics, output: service.output(), traces: traces.join("\n") };
  } finally {
    await service.kill();
  }
};

const secrets: readonly string[] = [word, String(fraction), String(whole), testToken];

/** The text around each secret found; empty without any. The whole text would be too long to print. */
const around = (text: string): string[] =>
  secrets.flatMap((secret) => {
    const at = text.indexOf(secret);
    return at === -1 ? [] : [text.slice(Math.max(0, at - 200), at + 60)];
  });

/** Removes the name of a Function from the audit line of its registration: client 0.38 sends it in the body. */
const withoutFunctions = (text: string): string => text.replaceAll(`"function":"${word}"`, '"function":"a name"');

/** Removes what an error may repeat: the name of an unknown column or field, and a number that is too large. */
const withoutHints = (text: string): string =>
  text
    .replaceAll(`no column \\"${word}\\"`, "no column")
    .replaceAll(`${word} is not a field that`, "a key is not a field that")
    .replaceAll(/\w+ is \d+, at most \d+|at most \d+, not \d+/g, "too large");

/**
 * Sends canary values in every string and number of a request (token, filter, vector and all others) through every
 * operation. Searches for them in the output, the metrics, the exported traces and the error responses.
 * @param usual of how many requests one is sent to a service as it is by default
 * @param unguarded the same for one whose engine sees every query. No divisor of the number of canary strings, so that all
 * of them are sent.
 */
export const searchCanaries = (usual: number, unguarded: number): void =>
  describe.each([
    ["as it is by default", {}, usual],
    [
      "with the guard off, so that errors of the engine occur",
      { LAKEHEAD_UNSAFE_GUARD: "off", LAKEHEAD_ISOLATION: "all" },
      unguarded,
    ],
  ] as const)("the service %s", (_, environment, every) => {
    let seen: Seen;
    beforeAll(async () => {
      seen = await drive(environment, every);
    }, 240_000);

    test("every request appears in output, metrics and traces", () => {
      expect(seen.requests).toBeGreaterThan(1000 / every);
      const lines = seen.output.split("\n").filter((line) => line.includes('"msg":"request"'));
      expect(lines).toHaveLength(seen.requests);
      for (const { name } of operations) {
        expect(seen.metrics).toContain(`lakehead_requests_total{operation="${name}"`);
        expect(seen.output).toContain(`"operation":"${name}"`);
        expect(seen.traces).toContain(`"name":"${name}"`);
      }
      expect(seen.failures.length).toBeGreaterThan(seen.requests / 4);
    });

    test.each(["output", "metrics", "traces"] as const)("no canary value in %s", (place) => {
      expect(around(withoutFunctions(seen[place]))).toEqual([]);
    });

    test("errors repeat only the name of an unknown column or field and a number that is too large", () => {
      const found = seen.failures.flatMap(({ what, text }) =>
        around(withoutHints(text)).map((part) => `${what}: ${part}`),
      );
      expect(found).toEqual([]);
    });
  });
