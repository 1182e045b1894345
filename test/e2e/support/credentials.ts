import { generateKeyPairSync, randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";

/** The control plane's own users, as Kubernetes' built-in roles know them, and an administrator. */
const users = {
  admin: { user: "lakehead-e2e", groups: "system:masters" },
  "controller-manager": { user: "system:kube-controller-manager", groups: "" },
  scheduler: { user: "system:kube-scheduler", groups: "" },
  kwok: { user: "kwok", groups: "system:masters" },
  kuberay: { user: "kuberay-operator", groups: "system:masters" },
} as const;

export type User = keyof typeof users;

/** A user beside these: its name, and its group. */
export interface OtherUser {
  readonly user: string;
  readonly groups: string;
}

export interface Credentials {
  readonly tokenFile: string;
  readonly accountKey: string;
  readonly accountPublicKey: string;
  readonly tokens: Readonly<Record<User, string>> & Readonly<Record<string, string>>;
}

/** Tokens for every user, and the key pair that signs service account tokens. */
export async function makeCredentials(
  folder: string,
  others: Readonly<Record<string, OtherUser>> = {},
): Promise<Credentials> {
  const everyone: Readonly<Record<string, OtherUser>> = { ...users, ...others };
  const tokens = Object.fromEntries(
    Object.keys(everyone).map((name) => [name, randomBytes(24).toString("hex")]),
  ) as Record<User, string> & Record<string, string>;
  const lines = Object.entries(everyone).map(
    ([name, { user, groups }]) => `${tokens[name]},${user},${name}${groups === "" ? "" : `,"${groups}"`}\n`,
  );
  const pair = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  const credentials = {
    tokenFile: join(folder, "tokens.csv"),
    accountKey: join(folder, "accounts.key"),
    accountPublicKey: join(folder, "accounts.pub"),
    tokens,
  };
  await writeFile(credentials.tokenFile, lines.join(""), { mode: 0o600 });
  await writeFile(credentials.accountKey, pair.privateKey, { mode: 0o600 });
  await writeFile(credentials.accountPublicKey, pair.publicKey);
  return credentials;
}

/** A kubeconfig of one context. */
export const kubeconfigOf = (context: string, server: string, certificateAuthority: string, token: string): string =>
  stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": context,
    contexts: [{ name: context, context: { cluster: context, user: context } }],
    clusters: [{ name: context, cluster: { server, "certificate-authority-data": certificateAuthority } }],
    users: [{ name: context, user: { token } }],
  });
