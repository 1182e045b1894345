/**
 * The deployed table service, asked over HTTP. In a cluster of real pods it is reached by kubectl's port-forward; where pods
 * are simulated, the container's command, environment and mounts are taken from the Deployment that the API server holds and
 * run as a process here.
 */

import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { environment, paths, ports } from "../../../service/contract.ts";
import type { TableDefinition } from "../../../tools/lance-tables.ts";
import { freePort } from "../../../tools/parts/free-port.ts";
import type { Api, KubernetesObject } from "./api.ts";
import { Daemon } from "./daemon.ts";
import { holds } from "./report.ts";

export const bearerToken = randomBytes(24).toString("hex");
const repository = fileURLToPath(new URL("../../../", import.meta.url));

export interface Running {
  readonly url: string;
  readonly operationsUrl: string;
  stop(): Promise<void>;
}

/** A table to ask for: ten rows, two columns. */
const table: TableDefinition = {
  namespace: [],
  name: "e2e",
  columns: { id: "integer", text: "text" },
  batches: [Array.from({ length: 10 }, (_, row) => ({ id: row, text: `row ${row}` }))],
  indices: [],
};

interface Container {
  readonly command: readonly string[];
  readonly env?: readonly { name: string; value?: string; valueFrom?: { resourceFieldRef?: { resource: string } } }[];
  readonly envFrom?: readonly { configMapRef?: { name: string }; secretRef?: { name: string } }[];
  readonly volumeMounts?: readonly { name: string; mountPath: string }[];
  readonly resources: { readonly limits: Readonly<Record<string, string>> };
}

const bytes = (quantity: string): number => {
  const { number = "0", unit = "" } = /^(?<number>[\d.]+)(?<unit>[KMG]i)?$/.exec(quantity)?.groups ?? {};
  return Number(number) * 1024 ** ["", "Ki", "Mi", "Gi"].indexOf(unit ?? "");
};

async function deployment(api: Api, namespace: string, name: string): Promise<KubernetesObject> {
  const live = await api.get({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name, namespace } });
  if (live === undefined) throw new Error(`there is no Deployment ${namespace}/${name}`);
  return live;
}

/** The variables that the kubelet would set for a container. @throws Error for a form that is not known here */
async function variables(api: Api, namespace: string, container: Container): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { configMapRef, secretRef } of container.envFrom ?? []) {
    const kind = configMapRef === undefined ? "Secret" : "ConfigMap";
    const name = configMapRef?.name ?? secretRef?.name ?? "";
    const source = await api.get({ apiVersion: "v1", kind, metadata: { name, namespace } });
    if (source === undefined)
      throw new Error(`the container wants its environment from ${kind} ${name}, which is not there`);
    for (const [key, value] of Object.entries(source.data as Record<string, string>))
      found[key] = kind === "Secret" ? Buffer.from(value, "base64").toString("utf8") : value;
  }
  for (const { name, value, valueFrom } of container.env ?? []) {
    const limit = valueFrom?.resourceFieldRef?.resource.replace(/^limits\./, "");
    const given = value ?? (limit === undefined ? undefined : String(bytes(container.resources.limits[limit] ?? "")));
    if (given === undefined) throw new Error(`the variable ${name} has a source that is not known here`);
    found[name] = given;
  }
  return found;
}

/** Where each of the container's mounts lies on this machine: a claim's own volume, or a folder for the rest. */
async function mounts(
  api: Api,
  namespace: string,
  live: KubernetesObject,
  folder: string,
): Promise<Record<string, string>> {
  const { volumes = [], containers } = live.spec.template.spec;
  const found: Record<string, string> = {};
  for (const { name, mountPath } of (containers[0] as Container).volumeMounts ?? []) {
    const claim = volumes.find((volume: { name: string }) => volume.name === name)?.persistentVolumeClaim?.claimName;
    let place = join(folder, "volumes", name);
    if (claim !== undefined) {
      const metadata = { name: claim, namespace };
      const bound = await api.get({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata });
      const volume = await api.get({
        apiVersion: "v1",
        kind: "PersistentVolume",
        metadata: { name: bound?.spec.volumeName ?? "" },
      });
      place = volume?.spec.hostPath?.path ?? place;
      holds(bound?.status?.phase === "Bound", `the claim ${claim} is ${bound?.status?.phase}`);
    }
    await mkdir(place, { recursive: true });
    found[mountPath] = place;
  }
  return found;
}

/** Runs the Deployment's container as a process. Paths of its mounts become those of this machine; ports become free ones. */
export async function runAsProcess(api: Api, namespace: string, name: string, folder: string): Promise<Running> {
  const live = await deployment(api, namespace, name);
  const container = live.spec.template.spec.containers[0] as Container;
  const places = await mounts(api, namespace, live, folder);
  const local = (value: string): string => {
    const mount = Object.keys(places).find((path) => value === path || value.startsWith(`${path}/`));
    return mount === undefined ? value : `${places[mount]}${value.slice(mount.length)}`;
  };
  const given = await variables(api, namespace, container);
  const [port, operationsPort] = [await freePort(), await freePort()];
  holds(given[environment.port] === String(ports.api), "the Deployment's port is not the contract's");
  const env = {
    PATH: process.env.PATH,
    ...Object.fromEntries(Object.entries(given).map(([key, value]) => [key, local(value)])),
    [environment.host]: "127.0.0.1",
    [environment.port]: String(port),
    [environment.operationsPort]: String(operationsPort),
  };
  const { writeTables } = await import("../../../tools/lance-tables.ts");
  const database = env[environment.database as keyof typeof env] ?? "";
  if (database.startsWith("/")) await writeTables(database, [table]);
  const [command = "", ...args] = container.command;
  const daemon = new Daemon({
    name: "the table service",
    command: command === "node" ? process.execPath : command,
    args,
    env,
    cwd: repository,
    logFile: join(folder, "table-service.log"),
  });
  const operationsUrl = `http://127.0.0.1:${operationsPort}`;
  await daemon.until("the table service being ready", async () =>
    (await fetch(`${operationsUrl}${paths.ready}`)).ok ? true : undefined,
  );
  return { url: `http://127.0.0.1:${port}`, operationsUrl, stop: () => daemon.stop() };
}

/** Forwards ports of this machine to a pod of the Deployment, after writing the table from inside it. */
export async function forward(namespace: string, name: string, folder: string): Promise<Running> {
  const script = `const { writeTables } = await import("./tools/lance-tables.ts");
    await writeTables(process.env.${environment.database}, [${JSON.stringify(table)}]);`;
  const kubectl = promisify(execFile);
  const pod = ["-n", namespace, `deployment/${name}`];
  await kubectl("kubectl", ["exec", ...pod, "--", "node", "--input-type=module", "-e", script]);
  const [port, operationsPort] = [await freePort(), await freePort()];
  const daemon = new Daemon({
    name: "kubectl port-forward",
    command: "kubectl",
    args: ["port-forward", ...pod, `${port}:${ports.api}`, `${operationsPort}:${ports.operations}`],
    logFile: join(folder, "port-forward.log"),
  });
  const operationsUrl = `http://127.0.0.1:${operationsPort}`;
  await daemon.until("the table service being ready", async () =>
    (await fetch(`${operationsUrl}${paths.ready}`)).ok ? true : undefined,
  );
  return { url: `http://127.0.0.1:${port}`, operationsUrl, stop: () => daemon.stop() };
}

/** Asks for statistics, makes a tag, looks it up and deletes it; and asks without a token. */
export async function askOperations({ url }: Running): Promise<string> {
  const ask = async (operation: string, body: unknown, token: string | undefined = bearerToken) => {
    const response = await fetch(`${url}/v1/table/${table.name}/${operation}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(token === "" ? {} : { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json().catch(() => ({}))) as Record<string, unknown> };
  };
  const stranger = await ask("stats", {}, "");
  holds(stranger.status === 401, `without a token it answers ${stranger.status}`);
  const stats = await ask("stats", {});
  holds(stats.status === 200 && stats.body.num_rows === 10, `stats: ${stats.status} ${JSON.stringify(stats.body)}`);
  const made = await ask("tags/create", { tag: "e2e", version: 1 });
  holds(made.status === 200, `tags/create: ${made.status} ${JSON.stringify(made.body)}`);
  const version = await ask("tags/version", { tag: "e2e" });
  holds(version.body.version === 1, `tags/version: ${version.status} ${JSON.stringify(version.body)}`);
  const gone = await ask("tags/delete", { tag: "e2e" });
  holds(gone.status === 200, `tags/delete: ${gone.status} ${JSON.stringify(gone.body)}`);
  return "statistics and tags answered, a stranger refused";
}
