import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AssumeRoleCommand, STSClient } from "@aws-sdk/client-sts";
import { freePort } from "../../tools/parts/free-port.ts";
import { type GoProgram, goProgram } from "../../tools/parts/go.ts";
import { bucketName } from "../support/object-store.ts";
import { type Running, startProcess } from "../support/process.ts";

const module = "github.com/minio/minio";
const version = "v0.0.0-20260212201848-7aac2a2c5b7c";

/** Of the user who may do everything, also ask for sessions. */
export const rootKeys = { id: "root-of-the-tests", secret: "secret-of-the-root-of-the-tests" } as const;

export interface Minio {
  readonly base: string;
  /** Storage options of a client with the root's keys. */
  readonly storageOptions: Readonly<Record<string, string>>;
  readonly uri: string;
  /** What it printed so far. */
  output(): string;
  stop(): Promise<void>;
}

/** Its program, or what is missing for it. */
export const minioProgram = async (log: (line: string) => void): Promise<GoProgram> => {
  const { program, missing } = await goProgram(module, version, log);
  return program === undefined ? { missing: `MinIO, ${missing}` } : { program };
};

type Environment = Readonly<Record<string, string>>;

const start = async (
  program: string,
  home: string,
  environment: Environment,
  attempts: number,
  host: string,
): Promise<{ base: string; running: Running }> => {
  const base = `${host}:${await freePort()}`;
  const running = startProcess(program, ["server", home, "--address", base], {
    HOME: home,
    MINIO_ROOT_USER: rootKeys.id,
    MINIO_ROOT_PASSWORD: rootKeys.secret,
    MINIO_BROWSER: "off",
    MINIO_UPDATE: "off",
    ...environment,
  });
  try {
    await running.printed(/^API: http/m);
    return { base: `http://${base}`, running };
  } catch (error) {
    // Another process may have taken the port meanwhile.
    if (attempts <= 1) throw error;
    return start(program, home, environment, attempts - 1, host);
  }
};

/**
 * MinIO with an empty bucket, built from its Go module: the only store of the tests that enforces the policies of sessions.
 * It is a program of the tests and is not part of any image.
 */
export const startMinio = async (
  log: (line: string) => void,
  environment: Environment = {},
  host = "127.0.0.1",
): Promise<Minio | { readonly missing: string; readonly base?: never }> => {
  const { program, missing } = await minioProgram(log);
  if (program === undefined) return { missing };
  const home = await mkdtemp(join(tmpdir(), "lakehead-minio-"));
  await mkdir(join(home, bucketName));
  const { base, running } = await start(program, home, environment, 3, host);
  return {
    base,
    output: running.output,
    uri: `s3://${bucketName}/tables`,
    storageOptions: {
      aws_endpoint: base,
      allow_http: "true",
      aws_region: "us-east-1",
      aws_access_key_id: rootKeys.id,
      aws_secret_access_key: rootKeys.secret,
      read_timeout: "60s",
      timeout: "60s",
    },
    async stop() {
      running.child.kill("SIGKILL");
      await running.exited();
      await rm(home, { recursive: true, force: true });
    },
  };
};

/** Storage options of a session that may do what the policy says, and no more. */
export const sessionOptions = async (
  { base, storageOptions }: Pick<Minio, "base" | "storageOptions">,
  policy: object,
): Promise<Readonly<Record<string, string>>> => {
  const credentials = { accessKeyId: rootKeys.id, secretAccessKey: rootKeys.secret };
  const sts = new STSClient({ endpoint: base, region: "us-east-1", credentials });
  const RoleArn = "arn:aws:iam::123456789012:role/session";
  const input = { RoleArn, RoleSessionName: "tests", Policy: JSON.stringify(policy) };
  const { Credentials: keys } = await sts.send(new AssumeRoleCommand(input));
  sts.destroy();
  return {
    ...storageOptions,
    aws_access_key_id: keys?.AccessKeyId ?? "",
    aws_secret_access_key: keys?.SecretAccessKey ?? "",
    aws_session_token: keys?.SessionToken ?? "",
  };
};
