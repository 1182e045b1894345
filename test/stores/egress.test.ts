import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer as createHttp, type Server } from "node:http";
import { createServer as createHttps } from "node:https";
import { type AddressInfo, connect as connectTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { connect } from "@lancedb/lancedb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { egressVariables } from "../../infra/model/egress.ts";
import { scopesOf } from "../../service/catalog/rights.ts";
import { pythonWith } from "../../tools/parts/python.ts";
import { startIssuer, type TestIssuer } from "../service/auth/support.ts";
import { bucketName } from "../support/object-store.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service-process.ts";
import { staticToken } from "../support/static-token.ts";
import { type S3Server, startMotoServer } from "./moto.ts";

/** No resolver knows it: who reaches it went through the proxy. */
const host = "s3.corp.test";

const lender = "token-of-a-reader-of-files";

const print = (line: string): boolean => process.stdout.write(`${line}\n`);
const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const { python } = await pythonWith(here("requirements.txt"), print);
const moto: S3Server = await startMotoServer(print);
if (moto.base === undefined) print(`skipped: proxy and private certificates, because ${moto.missing} is missing`);

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
const listen = (server: Server): Promise<void> => new Promise((resolve) => void server.listen(0, "127.0.0.1", resolve));

describe.skipIf(moto.base === undefined)("a service behind a proxy, with a private authority's certificates", () => {
  const base = moto.base ?? "";
  const asked: string[] = [];
  /** No server closes what was handed over to a tunnel. */
  const tunnels = new Set<Duplex>();
  let home: string;
  let issuer: TestIssuer;
  let store: Server;
  let proxy: Server;
  let variables: Record<string, string>;
  let storage: Record<string, string>;

  const start = (environment: Readonly<Record<string, string>>): Promise<ServiceProcess> =>
    startServiceProcess({
      tokens: [staticToken("lender", lender, scopesOf.read)],
      environment: {
        LAKEHEAD_DATABASE: `s3://${bucketName}/egress`,
        LAKEHEAD_STORAGE_OPTIONS: JSON.stringify(storage),
        LAKEHEAD_AUTH_ISSUER: issuer.url,
        LAKEHEAD_AUTH_AUDIENCE: "lakehead",
        ...environment,
      },
    });

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "lakehead-egress-"));
    const { stdout } = await promisify(execFile)(python ?? "", [here("private_ca.py"), host]);
    const { ca, certificate, key } = JSON.parse(stdout) as Record<string, string>;
    const file = join(home, "ca.crt");
    await writeFile(file, ca ?? "");
    issuer = await startIssuer();
    const { port: motoPort } = new URL(base);
    // moto speaks HTTP: TLS ends before it.
    store = createHttps({ cert: certificate, key }, (request, response) => {
      const { url, method, headers } = request;
      fetch(`${base}${url}`, {
        method: method ?? "GET",
        headers: Object.entries(headers).flatMap(([name, value]): [string, string][] =>
          ["host", "connection", "expect", "transfer-encoding"].includes(name) ? [] : [[name, String(value)]],
        ),
        ...(method === "GET" || method === "HEAD" ? {} : { body: request as never, duplex: "half" as never }),
      }).then(
        async (answer) => {
          const fields = Object.fromEntries(answer.headers);
          delete fields["content-encoding"];
          delete fields["transfer-encoding"];
          const body = Buffer.from(await answer.arrayBuffer());
          response.writeHead(answer.status, method === "HEAD" ? fields : { ...fields, "content-length": body.length });
          response.end(body);
        },
        () => response.writeHead(502).end(),
      );
    });
    await listen(store);
    proxy = createHttp((_, response) => void response.writeHead(405).end());
    proxy.on("connect", ({ url = "" }, client, head) => {
      asked.push(url);
      tunnels.add(client);
      const upstream = connectTcp(portOf(store), "127.0.0.1", () => {
        client.write("HTTP/1.1 200 OK\r\n\r\n");
        upstream.write(head);
        upstream.pipe(client).pipe(upstream);
      });
      for (const end of [client, upstream]) end.on("error", () => void [client.destroy(), upstream.destroy()]);
    });
    await listen(proxy);
    variables = egressVariables({ proxy: `http://127.0.0.1:${portOf(proxy)}`, noProxy: [], caBundle: ca }, [], file);
    storage = {
      region: "eu-central-1",
      aws_access_key_id: "id",
      aws_secret_access_key: "secret",
      aws_endpoint: `https://${host}:${portOf(store)}`,
    };
    const connection = await connect(`s3://${bucketName}/egress`, {
      storageOptions: { ...storage, aws_endpoint: `http://127.0.0.1:${motoPort}`, allow_http: "true" },
    });
    await connection.createTable("docs", [{ id: 1 }, { id: 2 }]);
    connection.close();
  }, 120_000);

  afterAll(async () => {
    for (const tunnel of tunnels) tunnel.destroy();
    for (const server of [proxy, store]) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
    await issuer.stop();
    if (moto.base !== undefined) await moto.stop();
    await rm(home, { recursive: true, force: true });
  });

  test("reads its tables, and calls an issuer of the cluster without the proxy", async () => {
    const service = await start(variables);
    try {
      await service.ready();
      const token = await issuer.token(
        (_, payload) => void Object.assign(payload, { aud: "lakehead", scope: "stats" }),
      );
      const { status, body } = await service.call("count_rows", "docs", {}, { token });
      expect([status, body], service.running.output()).toEqual([200, 2]);
      expect(new Set(asked)).toEqual(new Set([`${host}:${portOf(store)}`]));
    } finally {
      await service.stop();
    }
  });

  test("lends sessions of STS, which it asks through the proxy", async () => {
    const file = join(home, "token");
    await writeFile(file, await issuer.token());
    const service = await start({
      ...variables,
      LAKEHEAD_VENDING: "web-identity",
      LAKEHEAD_VENDING_ROLE: "arn:aws:iam::123456789012:role/tables",
      LAKEHEAD_VENDING_TOKEN_FILE: file,
    });
    try {
      await service.ready();
      const before = asked.length;
      const { status, body } = await service.call("describe", "docs", {}, { token: lender });
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body.storage_options).toHaveProperty("aws_session_token");
      expect(asked.length).toBeGreaterThan(before);
    } finally {
      await service.stop();
    }
  }, 60_000);

  /** What the service logs of its first request to the store. */
  const failure = async (environment: Readonly<Record<string, string>>): Promise<string> => {
    const service = await start(environment);
    try {
      const [line] = await service.running.printed(/^.*the database is unavailable.*$/m);
      expect(await service.readiness()).toBe(503);
      return line;
    } finally {
      await service.kill();
    }
  };

  test("reaches no store without the proxy, since no resolver knows its host", async () => {
    const { HTTPS_PROXY: _, https_proxy: __, ...rest } = variables;
    expect(await failure(rest)).toMatch(/dns|lookup|resolve/i);
  }, 200_000);

  test("trusts no store without the private authority", async () => {
    const { SSL_CERT_FILE: _, NODE_EXTRA_CA_CERTS: __, ...rest } = variables;
    expect(await failure(rest)).toMatch(/certificate|UnknownIssuer/i);
  }, 200_000);
});
