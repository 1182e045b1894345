import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@lancedb/lancedb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scopesOf } from "../../service/catalog/rights.ts";
import { startIssuer, type TestIssuer } from "../service/auth/support.ts";
import { bucketName } from "../support/object-store.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../support/service-process.ts";
import { staticToken } from "../support/static-token.ts";
import { type Minio, startMinio } from "./minio.ts";
import { signedTo } from "./signed.ts";

/** What the OIDC provider of a cluster on EKS writes into the tokens of pods for STS. */
const audience = "sts.amazonaws.com";
const token = "token-of-a-reader-of-files";

const issuer: TestIssuer = await startIssuer();
const minio = await startMinio((line) => process.stdout.write(`${line}\n`), {
  MINIO_IDENTITY_OPENID_CONFIG_URL: `${issuer.url}/.well-known/openid-configuration`,
  MINIO_IDENTITY_OPENID_CLIENT_ID: audience,
  MINIO_IDENTITY_OPENID_ROLE_POLICY: "readwrite",
});
if (minio.base === undefined)
  process.stdout.write(`skipped: sessions by web identity, because ${minio.missing} is missing\n`);

describe.skipIf(minio.base === undefined)("sessions by the token of a pod, on MinIO with an OpenID provider", () => {
  const store = minio as Minio;
  let home: string;
  let file: string;
  let service: ServiceProcess;

  const podToken = (change: Readonly<Record<string, unknown>> = {}): Promise<string> =>
    issuer.token(
      (_, payload) =>
        void Object.assign(payload, { aud: audience, sub: "system:serviceaccount:lancedb:table-service", ...change }),
    );

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "lakehead-pod-"));
    file = join(home, "token");
    await writeFile(file, await podToken());
    const connection = await connect(store.uri, { storageOptions: { ...store.storageOptions } });
    for (const name of ["docs", "docs2", "late", "refused"]) await connection.createTable(name, [{ id: 1 }]);
    connection.close();
    const [, role = ""] = /(arn:minio:iam:::role\/\S+)/.exec(store.output()) ?? [];
    // The service's own keys are not those of the sessions.
    service = await startReadyServiceProcess({
      tokens: [staticToken("reader", token, scopesOf.read)],
      environment: {
        LAKEHEAD_DATABASE: store.uri,
        LAKEHEAD_STORAGE_OPTIONS: JSON.stringify(store.storageOptions),
        LAKEHEAD_VENDING: "web-identity",
        LAKEHEAD_VENDING_ROLE: role,
        LAKEHEAD_VENDING_TOKEN_FILE: file,
      },
    });
  }, 120_000);
  afterAll(async () => {
    await service?.stop();
    await issuer.stop();
    if (minio.base !== undefined) await minio.stop();
    await rm(home, { recursive: true, force: true });
  });

  const lentFor = (table: string) => service.call("describe", table, {}, { token });

  test("read their table and no other", async () => {
    const { status, body } = await lentFor("docs");
    expect(status, JSON.stringify(body)).toBe(200);
    const { aws_access_key_id: id, aws_secret_access_key: secret, aws_session_token: session } = body.storage_options;
    const list = (prefix: string) =>
      signedTo(store.base)({ id, secret, token: session }, "GET", bucketName, { query: { "list-type": "2", prefix } });
    expect((await list("tables/docs.lance/")).status).toBe(200);
    expect((await list("tables/docs2.lance/")).status).toBe(403);
  });

  test("come from the token that the file has now", async () => {
    await writeFile(file, await podToken({ aud: "another" }));
    const refused = await lentFor("late");
    expect(refused).toMatchObject({ status: 503, body: { code: 17 } });
    expect(refused.headers.get("retry-after")).toBe("5");
    await writeFile(file, await podToken());
    expect(await lentFor("late")).toMatchObject({ status: 200, body: { storage_options: expect.any(Object) } });
  });

  test("leave nothing of a refused token in a response or the log", async () => {
    const before = await podToken();
    const bad = await podToken({ aud: "another" });
    await writeFile(file, bad);
    const refused = await lentFor("refused");
    await writeFile(file, before);
    expect(refused.status).toBe(503);
    await expect.poll(() => service.output()).toContain('"refused"');
    for (const part of bad.split(".")) {
      expect(service.output()).not.toContain(part);
      expect(JSON.stringify(refused.body)).not.toContain(part);
    }
  });
});
