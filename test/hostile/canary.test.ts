import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { operations } from "../../service/operations/index.ts";
import { addressOf } from "../../service/operations/operation.ts";
import { testToken } from "../support/request.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../support/service-process.ts";
import { canaryRequests, fraction, whole, word } from "./support/canary.ts";

/**
 * A canary token, filter, vector and every other word and number of a caller, through every operation that the registry
 * has: what the process prints, its metrics, its traces as they are sent, and what it answers to a request that fails.
 */

/** A token that nobody has; the one that is right must not come out either. */
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

/** What OpenTelemetry's exporter sends, as bytes of a real request. */
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

const everyRequest = () =>
  operations.flatMap((operation) =>
    operation.methods.flatMap((method) =>
      [...canaryRequests(addressOf(operation), method.toLowerCase(), testToken)].map((request) => ({
        ...request,
        operation: operation.name,
      })),
    ),
  );

const ask = async (
  service: ServiceProcess,
  { method, address, body, operation }: ReturnType<typeof everyRequest>[number],
  token: string,
): Promise<Failure | undefined> => {
  const response = await fetch(service.base + address, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      cookie: `session=${word}`,
      "x-api-key": wrongToken,
      "user-agent": word,
      "x-lance-ctx-token": word,
      "x-lance-ctx-note": `Bearer ${word}`,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.ok) return undefined;
  return {
    what: `${operation}: ${JSON.stringify(body)} ${address}`,
    text: text + JSON.stringify([...response.headers]),
  };
};

const drive = async (environment: Readonly<Record<string, string>>): Promise<Seen> => {
  const traces: string[] = [];
  const service = await startReadyServiceProcess({
    copyOf: inject("tables"),
    environment: {
      LAKEHEAD_LOG_LEVEL: "debug",
      LAKEHEAD_OTLP_ENDPOINT: await receiveTraces(traces),
      OTEL_BSP_SCHEDULE_DELAY: "200",
      ...environment,
    },
  });
  try {
    const waiting = everyRequest().flatMap((request, index) =>
      // One in ten also with a token that is wrong: what follows is then never reached.
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

/** What stands around a secret; empty where there is none. The whole text would fill the screen. */
const around = (text: string): string[] =>
  secrets.flatMap((secret) => {
    const at = text.indexOf(secret);
    return at === -1 ? [] : [text.slice(Math.max(0, at - 200), at + 60)];
  });

/** What an error may tell its caller again: which column is not there, and which number is too large. */
const withoutHints = (text: string): string =>
  text.replaceAll(`no column \\"${word}\\"`, "no column").replaceAll(/\w+ is \d+, at most \d+/g, "too large");

describe.each([
  ["as it is by default", {}],
  [
    "with the guard off, so that the engine's own words come up",
    { LAKEHEAD_UNSAFE_GUARD: "off", LAKEHEAD_ISOLATION: "all" },
  ],
])("the service %s", (_, environment) => {
  let seen: Seen;
  beforeAll(async () => {
    seen = await drive(environment);
  }, 240_000);

  it("was asked everything, and tells of it in every one of the places", () => {
    expect(seen.requests).toBeGreaterThan(1000);
    const lines = seen.output.split("\n").filter((line) => line.includes('"msg":"request"'));
    expect(lines).toHaveLength(seen.requests);
    for (const { name } of operations) {
      expect(seen.metrics).toContain(`lakehead_requests_total{operation="${name}"`);
      expect(seen.output).toContain(`"operation":"${name}"`);
      expect(seen.traces).toContain(`"name":"${name}"`);
    }
    expect(seen.failures.length).toBeGreaterThan(seen.requests / 4);
  });

  it.each(["output", "metrics", "traces"] as const)("its %s has nothing of it", (place) => {
    expect(around(seen[place])).toEqual([]);
  });

  it("its errors tell their caller nothing of it but a column that is not there and a number that is too large", () => {
    const found = seen.failures.flatMap(({ what, text }) =>
      around(withoutHints(text)).map((part) => `${what}: ${part}`),
    );
    expect(found).toEqual([]);
  });
});
