/** A small Kubernetes REST client for the provider stand-in and the suite. */

import { Agent, request as httpsRequest } from "node:https";
import type { Connection } from "./kubeconfig.ts";

export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly [field: string]: unknown;
  };
  // biome-ignore lint/suspicious/noExplicitAny: an object of a kind that is known only when it is read
  readonly [field: string]: any;
}

/** An error response of the API server: its message, status and reason. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly reason: string;
  /** `details.kind` of the refusal: which kind was not found. */
  readonly subject: string;

  constructor(status: number, answer: { message?: string; reason?: string; details?: { kind?: string } }) {
    super(answer.message ?? `the API server answered ${status}`);
    this.status = status;
    this.reason = answer.reason ?? "";
    this.subject = answer.details?.kind ?? "";
  }
}

/** The API server knows no such kind: its definition is missing, or not there yet. */
export class UnknownKind extends Error {
  override readonly name = "UnknownKind";
}

/** Whether the condition holds that an object's status reports. */
export const hasCondition = ({ status }: KubernetesObject, type: string): boolean =>
  status?.conditions?.some((one: { type: string; status: string }) => one.type === type && one.status === "True") ??
  false;

export type Reference = Pick<KubernetesObject, "apiVersion" | "kind"> & {
  readonly metadata: { readonly name: string; readonly namespace?: string };
};

export interface ApplyOptions {
  readonly fieldManager: string;
  readonly dryRun?: boolean;
  readonly force?: boolean;
}

interface ApiResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

export class Api {
  readonly #connection: Connection;
  readonly #agent: Agent;
  readonly #kinds = new Map<string, Promise<readonly ApiResource[]>>();

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#agent = new Agent({ keepAlive: true, maxSockets: 16 });
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Asks a path. @throws ApiError for every answer but 2xx */
  async ask<Answer>(method: string, path: string, body?: unknown, type = "application/json"): Promise<Answer> {
    const { server, ca, cert, key, token } = this.#connection;
    const bearer = await token();
    const text = body === undefined ? undefined : JSON.stringify(body);
    const { status, answer } = await new Promise<{ status: number; answer: string }>((resolve, reject) => {
      const request = httpsRequest(
        new URL(path, server),
        {
          method,
          agent: this.#agent,
          ...(ca === undefined ? {} : { ca }),
          ...(cert === undefined ? {} : { cert }),
          ...(key === undefined ? {} : { key }),
          headers: {
            accept: "application/json",
            ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
            ...(text === undefined ? {} : { "content-type": type, "content-length": Buffer.byteLength(text) }),
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.once("error", reject);
          response.once("end", () =>
            resolve({ status: response.statusCode ?? 0, answer: Buffer.concat(chunks).toString("utf8") }),
          );
        },
      );
      request.once("error", reject);
      request.end(text);
    });
    const parsed: unknown = answer.startsWith("{") || answer.startsWith("[") ? JSON.parse(answer) : { message: answer };
    if (status < 200 || status > 299) throw new ApiError(status, parsed as { message?: string });
    return parsed as Answer;
  }

  /** @throws UnknownKind when the server serves no such kind */
  async path({ apiVersion, kind, metadata }: Reference, named = true): Promise<string> {
    const group = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const resource = await this.#resource(group, kind);
    const place = resource.namespaced ? `/namespaces/${metadata.namespace ?? "default"}` : "";
    return `${group}${place}/${resource.name}${named ? `/${metadata.name}` : ""}`;
  }

  async #resource(group: string, kind: string): Promise<ApiResource> {
    const list = async () => {
      const { resources } = await this.ask<{ resources: readonly ApiResource[] }>("GET", group);
      return resources;
    };
    const find = (resources: readonly ApiResource[]) =>
      resources.find((resource) => resource.kind === kind && !resource.name.includes("/"));
    try {
      const known = find(await (this.#kinds.get(group) ?? Promise.resolve([])));
      if (known !== undefined) return known;
      const asked = list();
      const found = find(await asked);
      if (found === undefined) throw new UnknownKind(`the API server serves no ${kind} under ${group}`);
      this.#kinds.set(group, asked);
      return found;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404)
        throw new UnknownKind(`the API server serves no ${kind} under ${group}`);
      throw error;
    }
  }

  /** The object, or undefined when there is none. */
  async get(reference: Reference): Promise<KubernetesObject | undefined> {
    try {
      return await this.ask<KubernetesObject>("GET", await this.path(reference));
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  async list(apiVersion: string, kind: string, namespace?: string, selector?: string): Promise<KubernetesObject[]> {
    const group = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const { name } = await this.#resource(group, kind);
    const place = namespace === undefined ? "" : `/namespaces/${namespace}`;
    const query = selector === undefined ? "" : `?labelSelector=${encodeURIComponent(selector)}`;
    const { items } = await this.ask<{ items: KubernetesObject[] }>("GET", `${group}${place}/${name}${query}`);
    return items.map((item) => ({ ...item, apiVersion, kind }));
  }

  /** Server-side apply. Unknown and duplicate fields are errors, as with `kubectl --validate=strict`. */
  async apply(object: KubernetesObject, { fieldManager, dryRun, force }: ApplyOptions): Promise<KubernetesObject> {
    const query = new URLSearchParams({
      fieldManager,
      fieldValidation: "Strict",
      ...(dryRun ? { dryRun: "All" } : {}),
      ...(force ? { force: "true" } : {}),
    });
    return this.ask("PATCH", `${await this.path(object)}?${query}`, object, "application/apply-patch+yaml");
  }

  /** Creates the object. @throws ApiError with status 409 when it exists */
  async create(object: KubernetesObject, { fieldManager, dryRun }: ApplyOptions): Promise<KubernetesObject> {
    const query = new URLSearchParams({
      fieldManager,
      fieldValidation: "Strict",
      ...(dryRun ? { dryRun: "All" } : {}),
    });
    return this.ask("POST", `${await this.path(object, false)}?${query}`, object);
  }

  async remove(reference: Reference, propagation: "Foreground" | "Background" = "Foreground"): Promise<void> {
    try {
      await this.ask("DELETE", `${await this.path(reference)}?propagationPolicy=${propagation}`);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404) && !(error instanceof UnknownKind)) throw error;
    }
  }
}
