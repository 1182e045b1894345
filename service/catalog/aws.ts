import { readFile } from "node:fs/promises";
import { globalAgent } from "node:https";
import type { AssumeRoleCommandInput, Credentials } from "@aws-sdk/client-sts";
import { findOption } from "../config/storage-options.ts";
import { sessionPolicy } from "./session-policy.ts";
import { type Issue, publicOptions, unavailable } from "./vending.ts";

type Options = Readonly<Record<string, string>>;

/** Options of S3 that a client needs besides its credential, by their names with and without the cloud's prefix. */
const clientOptions: Readonly<Record<string, RegExp>> = {
  aws_region: /^(aws_)?region$/i,
  aws_endpoint: /^(aws_)?endpoint(_url)?$/i,
  allow_http: /^(aws_)?allow_http$/i,
  aws_virtual_hosted_style_request: /^(aws_)?virtual_hosted_style_request$/i,
};

export interface StsConfig {
  /** ARN of the role whose sessions are lent. */
  readonly role: string;
  readonly seconds: number;
  /** ARN of the key that encrypts the bucket. */
  readonly kmsKey?: string;
  /** Address of STS; absent: the endpoint of the storage options, else that of the region. */
  readonly stsUrl?: string;
  /** File with the token of a web identity; absent: the service's own credentials assume the role. */
  readonly tokenFile?: string;
}

/** The service's own keys, if the operator gave some; else the SDK looks for them in the environment. */
const ownKeys = (options: Options) => {
  const [accessKeyId, secretAccessKey, sessionToken] = [
    /^(aws_)?access_key_id$/i,
    /^(aws_)?secret_access_key$/i,
    /^(aws_)?(session_|security_)?token$/i,
  ].map((pattern) => findOption(options, pattern));
  return accessKeyId === undefined || secretAccessKey === undefined
    ? {}
    : { credentials: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) } };
};

/** Characters of a session's name; the cloud's log shows it. */
const sessionName = (holder: string): string => `lakehead-${holder}`.replace(/[^\w+=,.@-]/g, "-").slice(0, 64);

/** The reason without the request, which holds a token, and without the response. */
const reasonOf = (error: unknown, token: string | undefined): Error => {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : "unknown";
  return new Error(token === undefined ? text : text.replaceAll(token, "…"));
};

/** Sessions of a role with a policy for one table, by STS. */
export const createStsIssuer = async (config: StsConfig, options: Options): Promise<Issue> => {
  const { STSClient, AssumeRoleCommand, AssumeRoleWithWebIdentityCommand } = await import("@aws-sdk/client-sts");
  const shared = publicOptions(options, clientOptions);
  const endpoint = config.stsUrl ?? shared.aws_endpoint;
  const client = new STSClient({
    region: shared.aws_region ?? "us-east-1",
    maxAttempts: 2,
    requestHandler: {
      connectionTimeout: 3000,
      requestTimeout: 5000,
      throwOnRequestTimeout: true,
      // Node gives its own agent alone the proxy of the environment.
      httpsAgent: globalAgent,
    },
    ...(endpoint === undefined ? {} : { endpoint }),
    ...ownKeys(options),
  });
  const partition = /^arn:(aws[\w-]*):/.exec(config.role)?.[1];
  const assume = async (input: AssumeRoleCommandInput, token: string | undefined): Promise<Credentials | undefined> => {
    const answer =
      token === undefined
        ? await client.send(new AssumeRoleCommand(input))
        : await client.send(new AssumeRoleWithWebIdentityCommand({ ...input, WebIdentityToken: token }));
    return answer.Credentials;
  };
  return async (place, right, holder) => {
    const policy = sessionPolicy(place, right, { partition, kmsKey: config.kmsKey });
    // It rotates.
    const token =
      config.tokenFile === undefined
        ? undefined
        : await readFile(config.tokenFile, "utf8").catch((error: unknown) => {
            throw unavailable(error);
          });
    const input = {
      RoleArn: config.role,
      RoleSessionName: sessionName(holder),
      DurationSeconds: config.seconds,
      Policy: policy,
    };
    const found = await assume(input, token?.trim()).catch((error: unknown) => {
      throw unavailable(reasonOf(error, token?.trim()));
    });
    const { AccessKeyId: id, SecretAccessKey: secret, SessionToken: session, Expiration: end } = found ?? {};
    // Without an end, a client would never refresh it.
    if (id === undefined || secret === undefined || session === undefined || end === undefined)
      throw unavailable(new Error("the answer of STS lacks a key or its end"));
    return {
      options: { ...shared, aws_access_key_id: id, aws_secret_access_key: secret, aws_session_token: session },
      expiresAt: end.getTime(),
    };
  };
};
