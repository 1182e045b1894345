import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse } from "yaml";

/** The address of a cluster and the credentials for it. */
export interface Connection {
  readonly server: URL;
  /** PEM of the authority that signed the server's certificate; the system's own when undefined. */
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** A bearer token, fetched again when a program provides it. */
  readonly token: () => Promise<string | undefined>;
}

interface User {
  readonly token?: string;
  readonly "client-certificate-data"?: string;
  readonly "client-key-data"?: string;
  readonly exec?: {
    readonly command: string;
    readonly args?: readonly string[] | null;
    readonly env?: readonly { name: string; value: string }[] | null;
  };
}

interface Kubeconfig {
  readonly "current-context"?: string;
  readonly contexts: readonly { name: string; context: { cluster: string; user: string } }[];
  readonly clusters: readonly {
    name: string;
    cluster: { server: string; "certificate-authority-data"?: string; "certificate-authority"?: string };
  }[];
  readonly users: readonly { name: string; user: User }[];
}

/** The text of a kubeconfig that is given as text, as a path, or not at all: then the file that kubectl would read. */
const textOf = (given: string | undefined): string => {
  if (given !== undefined && /[\n{]/.test(given)) return given;
  const path = given ?? process.env.KUBECONFIG ?? join(homedir(), ".kube", "config");
  if (!existsSync(path)) throw new Error(`there is no kubeconfig at ${path}`);
  return readFileSync(path, "utf8");
};

const decode = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : Buffer.from(text, "base64").toString("utf8");

function named<Kind extends { name: string }>(list: readonly Kind[], name: string | undefined, what: string): Kind {
  const found = list.find((entry) => entry.name === name);
  if (found === undefined) throw new Error(`the kubeconfig has no ${what} "${name}"`);
  return found;
}

/**
 * Reads a kubeconfig as kubectl does, as far as this project's programs and tests need it.
 * @throws Error when the context, its cluster or its user is missing
 */
export function readKubeconfig(given?: string, context?: string): Connection {
  const file = parse(textOf(given)) as Kubeconfig;
  const chosen = named(file.contexts, context ?? file["current-context"], "context").context;
  const { cluster } = named(file.clusters, chosen.cluster, "cluster");
  const { user } = named(file.users, chosen.user, "user");
  const caFile = cluster["certificate-authority"];
  return {
    server: new URL(cluster.server),
    ca:
      decode(cluster["certificate-authority-data"]) ??
      (caFile === undefined ? undefined : readFileSync(caFile, "utf8")),
    cert: decode(user["client-certificate-data"]),
    key: decode(user["client-key-data"]),
    token: user.exec === undefined ? async () => user.token : fromProgram(user.exec),
  };
}

/** Runs the credential program once for as long as its answer is good. */
function fromProgram({ command, args, env }: NonNullable<User["exec"]>): () => Promise<string | undefined> {
  let held: Promise<{ token?: string; expirationTimestamp?: string }> | undefined;
  const ask = async () => {
    const additions = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
    const { stdout } = await promisify(execFile)(command, [...(args ?? [])], { env: { ...process.env, ...additions } });
    return (JSON.parse(stdout) as { status: { token?: string; expirationTimestamp?: string } }).status;
  };
  return async () => {
    held ??= ask();
    const { token, expirationTimestamp } = await held;
    if (expirationTimestamp === undefined || Date.parse(expirationTimestamp) > Date.now() + 10_000) return token;
    held = ask();
    return (await held).token;
  };
}
