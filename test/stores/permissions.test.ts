import { connect } from "@lancedb/lancedb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tableServicePolicy } from "../../infra/clouds/aws/identity/cluster-policies.ts";
import type { PolicyDocument } from "../../infra/clouds/aws/identity/policy.ts";
import { bucketName } from "../support/object-store.ts";
import type { ServiceProcess } from "../support/service-process.ts";
import { sendTo } from "./forward.ts";
import { type S3Server, startMotoServer } from "./moto.ts";
import { fill, type Place, serve, withLongTimeouts } from "./place.ts";
import { fault, questions } from "./questions.ts";
import { type Keys, singleDeletes } from "./single-deletes.ts";

// The whole bucket: moto evaluates no conditions, such as the one that restricts lists to a prefix.
const scope = { bucket: bucketName, prefix: "" };
const place = { partition: "aws", region: "us-east-1", account: "123456789012", cluster: "lancedb" };
const server: S3Server = await startMotoServer((line) => process.stdout.write(`${line}\n`), {
  // moto counts the requests that it lets pass before it begins to check their identities; the count is set below.
  INITIAL_NO_AUTH_ACTION_COUNT: "1000000000",
});

/** The service under the stack's own policy, on an S3 server that enforces it. */
describe.skipIf(server.base === undefined)("the stack's policy, enforced by moto", () => {
  const base = server.base ?? "";
  const send = sendTo(base);

  const iam = async (parameters: Readonly<Record<string, string>>): Promise<string> => {
    const body = Buffer.from(String(new URLSearchParams({ Version: "2010-05-08", ...parameters })));
    const answer = await send(
      "POST",
      "/",
      {
        "content-type": "application/x-www-form-urlencoded",
        authorization:
          "AWS4-HMAC-SHA256 Credential=test/20261122/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=0",
      },
      body,
    );
    if (answer.status !== 200) throw new Error(`${parameters.Action}: ${answer.status} ${answer.body}`);
    return answer.body.toString();
  };

  const under = ({ id, secret }: Keys, address: string = base): Place =>
    withLongTimeouts({
      uri: `s3://${bucketName}`,
      storageOptions: {
        aws_endpoint: address,
        allow_http: "true",
        aws_region: "us-east-1",
        aws_access_key_id: id,
        aws_secret_access_key: secret,
      },
    });

  /** Makes a user with a policy. @returns its keys. */
  const userWith = async (name: string, policy: PolicyDocument): Promise<Keys> => {
    await iam({ Action: "CreateUser", UserName: name });
    await iam({
      Action: "PutUserPolicy",
      UserName: name,
      PolicyName: "tables",
      PolicyDocument: JSON.stringify(policy),
    });
    const answer = await iam({ Action: "CreateAccessKey", UserName: name });
    const between = (tag: string) => new RegExp(`<${tag}>(.*)</${tag}>`).exec(answer)?.[1] ?? "";
    return { id: between("AccessKeyId"), secret: between("SecretAccessKey") };
  };

  let reader: Place;
  let writer: Place;
  let deletes: Awaited<ReturnType<typeof singleDeletes>>;
  beforeAll(async () => {
    await fill(under({ id: "test", secret: "test" }));
    const keys = await userWith("reader", tableServicePolicy(place, scope, false));
    deletes = await singleDeletes(base, keys);
    reader = under(keys, deletes.address);
    writer = under(await userWith("writer", tableServicePolicy(place, scope, true)));
    await send("POST", "/moto-api/reset-auth", {}, Buffer.from("0"));
  }, 180_000);
  afterAll(async () => {
    deletes?.close();
    if (server.base !== undefined) await server.stop();
  });

  const append = async ({ uri, storageOptions }: Place): Promise<void> => {
    const connection = await connect(uri, { storageOptions: { ...storageOptions } });
    const table = await connection.openTable("plain");
    const rows = await table.query().limit(1).toArrow();
    await table.add(rows);
  };

  describe("without writes", () => {
    let service: ServiceProcess;
    beforeAll(async () => {
      service = await serve(reader);
      await service.ready();
    });
    afterAll(() => service.stop());

    test.each(questions)("$title: $path", async (question) => {
      const { path, body, asking } = question;
      expect(fault(question, await service.ask(`/v1/${path}`, body, asking))).toBeUndefined();
    });

    test("permits tags to be created, moved and deleted", async () => {
      const call = async (operation: string, body: object) =>
        (await service.call(`tags/${operation}`, "prod$vectors$docs", body)).status;
      expect(await call("create", { tag: "kept", version: 1 })).toBe(200);
      expect(await call("update", { tag: "kept", version: 2 })).toBe(200);
      expect(await call("version", { tag: "kept" })).toBe(200);
      expect(await call("delete", { tag: "kept" })).toBe(200);
      expect(await call("version", { tag: "kept" })).toBe(404);
    });

    test("refuses to delete a table, also by the engine itself", async () => {
      const connection = await connect(reader.uri, { storageOptions: { ...reader.storageOptions } });
      await expect(connection.dropTable("plain")).rejects.toThrow(/AccessDenied|permission/i);
      const table = await connection.openTable("plain");
      expect(await table.countRows()).toBe(100);
      connection.close();
    });

    test("refuses a change of a table, also by the engine itself", async () => {
      await expect(append(reader)).rejects.toThrow(/403|AccessDenied|permission/i);
    });
  });

  test("with writes permits the engine a change of a table", async () => {
    await expect(append(writer)).resolves.toBeUndefined();
  });
});
