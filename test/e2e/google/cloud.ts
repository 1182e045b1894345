/**
 * A double of Google's REST API. Each request is judged by Google's discovery documents, and so is each response; what exists
 * is in memory. `kinds.ts` has what differs between kinds of resources.
 */

import { record, text, valuesAt } from "../providers/cloud.ts";
import { changed, merge, operationOf, withoutPools } from "./changes.ts";
import type { Call, Discovery } from "./discovery.ts";
import { computeAdds, type Held, kinds, parent, pathOf, type World } from "./kinds.ts";
import { Policies, type Policy } from "./policies.ts";
import type { Answer } from "./proxy.ts";
import { invalid, notFound, Refused } from "./refused.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface GoogleOptions {
  readonly project: string;
  readonly region: string;
  /** Host of the API server of every cluster, and its certificate authority in base64. */
  readonly apiServer: { readonly host: string; readonly ca: string };
  /** Milliseconds for which requests to an API are refused after it was enabled. */
  readonly apiDelay: number;
  /** Side effects outside of Google's API: what existed before, and what exists then. */
  readonly changed?: (before: Held | undefined, after: Held | undefined) => Promise<void>;
}

/** Of the project. */
const number = "123456789012";

export class GoogleCloud {
  /** What was refused, newest last. */
  readonly refusals: string[] = [];
  /** Requests of each method. */
  readonly calls = new Map<string, number>();
  /** `<verb> <kind> <start of the name>` of an operation that fails, such as `create container.nodePools cpu-pool`. */
  failing: string | undefined;
  readonly #discovery: Discovery;
  readonly #options: GoogleOptions;
  readonly #policies: Policies;
  readonly #held = new Map<string, Held>();
  readonly #operations = new Map<string, Fields>();
  /** When each API was enabled. */
  readonly #services = new Map<string, number>();
  readonly #world: World;
  #changes = 0;

  constructor(discovery: Discovery, options: GoogleOptions) {
    this.#discovery = discovery;
    this.#options = options;
    this.#policies = new Policies(options.project, (email) =>
      this.#held.has(`projects/${options.project}/serviceAccounts/${email}`),
    );
    this.#world = {
      project: options.project,
      apiServer: options.apiServer,
      of: (kind) => [...this.#held.values()].filter((held) => held.kind === kind),
      at: (address) => this.#held.get(pathOf(address)),
      rolesOf: (member) => this.#policies.rolesOf(member),
    };
  }

  /** Addresses of what exists, without keys, which Google keeps. Source: cloud.google.com/kms/docs/resource-hierarchy */
  get left(): readonly string[] {
    return [...this.#held.keys()].filter((path) => !path.includes("/keyRings/"));
  }

  async respond(httpMethod: string, url: URL, body: Fields): Promise<Answer> {
    try {
      const call = this.#discovery.find(httpMethod, url, body);
      if (call === undefined)
        throw new Refused(404, "NOT_FOUND", "notFound", `Google's documents have no ${httpMethod} ${url}`);
      this.calls.set(call.method.id, (this.calls.get(call.method.id) ?? 0) + 1);
      this.#requireEnabled(url.hostname);
      const problems = this.#discovery.problems(call);
      if (problems.length > 0) throw invalid(problems.join("; "));
      const answer = await this.#perform(call);
      const faults = this.#discovery.faults(call, answer);
      if (faults.length > 0) throw new Error(`the double's answer: ${faults.join("; ")}`);
      return { status: call.method.response === undefined ? 204 : 200, body: answer };
    } catch (error) {
      const internal = new Refused(500, "INTERNAL", "double", String(error));
      const { code, status, reason, message, details } = error instanceof Refused ? error : internal;
      if (code !== 404 || httpMethod !== "GET") this.refusals.push(`${httpMethod} ${url.pathname}: ${code} ${message}`);
      const errors = [{ message, domain: "global", reason }];
      return { status: code, body: { error: { code, message, status, errors, details } } };
    }
  }

  /** Source: cloud.google.com/service-usage/docs/enable-disable, "wait a few minutes" */
  #requireEnabled(service: string): void {
    const since = this.#services.get(service);
    if (
      service === "serviceusage.googleapis.com" ||
      (since !== undefined && since + this.#options.apiDelay <= Date.now())
    )
      return;
    const message = `${service} has not been used in project ${this.#options.project} before or it is disabled.`;
    const detail = {
      "@type": "type.googleapis.com/google.rpc.ErrorInfo",
      reason: "SERVICE_DISABLED",
      domain: "googleapis.com",
      metadata: { service, consumer: `projects/${number}` },
    };
    throw new Refused(403, "PERMISSION_DENIED", "accessNotConfigured", message, [detail]);
  }

  async #perform(call: Call): Promise<unknown> {
    const { api, kind, verb, path, body } = call;
    if (kind.toLowerCase().endsWith("operations")) return found(this.#operations.get(path), path);
    if (api === "serviceusage") return this.#service(call);
    if (verb === "getIamPolicy" || verb === "setIamPolicy") {
      if (api !== "cloudresourcemanager") this.#existing(path);
      const sent = (api === "storage" ? body : record(body.policy)) as Partial<Policy>;
      return verb === "getIamPolicy" ? this.#policies.of(path) : this.#policies.write(path, sent);
    }
    if (kind === "cloudresourcemanager.projects")
      return { projectId: this.#options.project, projectNumber: number, lifecycleState: "ACTIVE" };
    if (kind === "compute.regions") return { items: [{ name: this.#options.region }] };
    if (verb === "insert" || verb === "create") return this.#create(call);
    if (verb === "get") return this.#view(this.#existing(path));
    if (verb === "list") return this.#list(call);
    return verb === "delete" ? this.#delete(call) : this.#update(call);
  }

  #existing(path: string): Held {
    // `-` is whichever project a service account's address names.
    return found(this.#held.get(path.replace(/^projects\/-\//, `projects/${this.#options.project}/`)), path);
  }

  #within(path: string): Held[] {
    return [...this.#held.values()].filter((held) => held.path.startsWith(`${path}/`));
  }

  #view({ kind, path, body }: Held): Fields {
    return kind === "container.clusters" ? { ...body, nodePools: this.#within(path).map((pool) => pool.body) } : body;
  }

  #list(call: Call): Fields {
    const field = this.#discovery
      .answerOf(call)
      .lists.find((name) => name === "items" || call.kind.endsWith(`.${name}`));
    const all = [...this.#held.values()].filter(({ path }) => path.split("/").slice(0, -1).join("/") === call.path);
    return field === undefined || all.length === 0 ? {} : { [field]: all.map((held) => this.#view(held)) };
  }

  /** A resource after a request: what Google adds, over that what was there and what was sent. */
  #complete(kind: string, path: string, body: Fields): Held {
    const bare = { kind, path, body };
    const added = merge(
      kind.startsWith("compute.") ? computeAdds(bare) : {},
      kinds[kind]?.adds?.(bare, this.#world) ?? {},
    );
    const stamp = Buffer.from(String(++this.#changes)).toString("base64");
    const stamps = Object.fromEntries((kinds[kind]?.stamps ?? []).map((field) => [field, stamp]));
    return { ...bare, body: { ...merge(added, body), ...kinds[kind]?.rewrites?.(body), ...stamps } };
  }

  #require(held: Held, before?: Held): void {
    const { inside, refers = {}, refuses = [] } = kinds[held.kind] ?? {};
    if (inside !== undefined) this.#existing(parent(held.path));
    for (const value of Object.keys(refers).flatMap((field) => valuesAt(held.body, field)))
      found(this.#world.at(value), pathOf(value));
    for (const refuse of refuses) {
      const reason = refuse(held, this.#world, before);
      if (reason !== undefined) throw invalid(reason);
    }
  }

  async #create(call: Call): Promise<unknown> {
    const { kind, path: collection } = call;
    const wrapper = this.#discovery.wrapperOf(call);
    const sent = wrapper === undefined ? call.body : record(call.body[wrapper]);
    const id = this.#idOf(call, sent);
    const { name = /./ } = kinds[kind] ?? {};
    if (!name.test(id)) throw invalid(`Invalid name "${id}" of ${kind}: must be a match of regex ${name.source}`);
    const path = `${collection}/${encodeURIComponent(id).replaceAll("%40", "@")}`;
    if (this.#held.has(path))
      throw new Refused(409, "ALREADY_EXISTS", "alreadyExists", `The resource '${path}' already exists`);
    const held = this.#complete(kind, path, sent);
    this.#require(held);
    const failure = this.#failure("create", held) ?? kinds[kind]?.fails?.(held, this.#world);
    if (failure === undefined) await this.#keep(held);
    return this.#answer(call, held, failure);
  }

  /** In the body, or beside it: `accountId` of an account, the parameter `repositoryId` of a repository. */
  #idOf({ kind, query, body }: Call, sent: Fields): string {
    if (kind === "iam.serviceAccounts")
      return `${text(body.accountId)}@${this.#options.project}.iam.gserviceaccount.com`;
    const beside = Object.entries(query).find(
      ([name]) => name.endsWith("Id") && kind.includes(name.replace(/y?Id$/, "")),
    );
    return beside?.[1] ?? text(sent.name);
  }

  async #keep(held: Held): Promise<void> {
    const { body, pools } = withoutPools(held.body);
    this.#held.set(held.path, held.kind === "container.clusters" ? { ...held, body } : held);
    if (held.kind === "container.clusters")
      for (const pool of pools) {
        const path = `${held.path}/nodePools/${text(pool.name)}`;
        this.#held.set(path, this.#complete("container.nodePools", path, pool));
      }
    for (const pool of valuesAt(body, "workloadIdentityConfig.workloadPool"))
      this.#policies.addIdentityPool(text(pool));
    await this.#options.changed?.(undefined, held);
  }

  async #update(call: Call): Promise<unknown> {
    const before = this.#existing(call.path);
    if (![undefined, before.body.fingerprint].includes(call.body.fingerprint))
      throw new Refused(412, "FAILED_PRECONDITION", "conditionNotMet", "Invalid fingerprint.");
    const wrapper = this.#discovery.wrapperOf(call);
    const sent = wrapper === undefined ? call.body : record(call.body[wrapper]);
    const body = changed(call, before.body, sent);
    if (body === undefined) throw new Error(`the double has no ${call.method.id}`);
    const after = this.#complete(before.kind, before.path, body);
    this.#require(after, before);
    this.#held.set(after.path, after);
    await this.#options.changed?.(before, after);
    return this.#answer(call, after);
  }

  async #delete(call: Call): Promise<unknown> {
    const held = this.#existing(call.path);
    const holder = this.#holderOf(held);
    const message = `The resource '${held.path}' is already being used by '${holder?.path}'`;
    if (holder !== undefined && call.api === "storage")
      throw new Refused(409, "FAILED_PRECONDITION", "conflict", message);
    if (holder !== undefined) throw new Refused(400, "FAILED_PRECONDITION", "resourceInUseByAnotherResource", message);
    const failure = this.#failure("delete", held);
    if (failure !== undefined) return this.#answer(call, held, failure);
    for (const gone of [held, ...this.#within(held.path)]) {
      this.#held.delete(gone.path);
      this.#policies.forget(
        gone.path,
        gone.kind === "iam.serviceAccounts" ? `serviceAccount:${text(gone.body.email)}` : undefined,
      );
      await this.#options.changed?.(gone, undefined);
    }
    return this.#answer(call, held);
  }

  #holderOf(held: Held): Held | undefined {
    return [...this.#held.values()].find(({ kind, path, body }) => {
      const { inside, refers = {} } = kinds[kind] ?? {};
      const holds = Object.keys(refers).filter((field) => refers[field] === "holds");
      return (
        (inside === "holds" && parent(path) === held.path) ||
        holds.some((field) => valuesAt(body, field).some((value) => pathOf(value) === held.path))
      );
    });
  }

  #failure(verb: string, { kind, path }: Held): string | undefined {
    return this.failing !== undefined && `${verb} ${kind} ${path.split("/").at(-1)}`.startsWith(this.failing)
      ? `InternalFailure: the e2e suite lets the ${verb} of ${path} fail`
      : undefined;
  }

  /** The resource, or an operation that is done, as the document says of the method. */
  #answer(call: Call, held: Held, failure?: string): unknown {
    const { schema } = this.#discovery.answerOf(call);
    if (schema !== "Operation") {
      if (failure !== undefined) throw new Refused(500, "INTERNAL", "internalError", failure);
      return schema === "" || schema === "Empty" ? {} : held.body;
    }
    const id = `operation-${++this.#changes}`;
    const scope = /^projects\/[^/]+\/(global|regions\/[^/]+|locations\/[^/]+)/.exec(held.path)?.[0] ?? "";
    const operation = operationOf(call, { id, scope, path: held.path, body: held.body }, failure);
    this.#operations.set(scope === "" ? `operations/${id}` : `${scope}/operations/${id}`, operation);
    return operation;
  }

  #service(call: Call): unknown {
    const { verb, path, body } = call;
    const of = (name: string) => ({
      name: `projects/${number}/services/${name}`,
      config: { name },
      state: this.#services.has(name) ? "ENABLED" : "DISABLED",
    });
    if (verb === "list") return { services: [...this.#services.keys()].map(of) };
    const named = path.split("/").at(-1) ?? "";
    if (verb === "get") return of(named);
    if (verb === "disable") this.#services.delete(named);
    else
      for (const name of verb === "batchEnable" ? valuesAt(body, "serviceIds").map(text) : [named])
        if (!this.#services.has(name)) this.#services.set(name, Date.now());
    return this.#answer(call, { kind: call.kind, path, body: {} });
  }
}

/** @throws Refused for what does not exist */
function found<One>(one: One | undefined, path: string): One {
  if (one === undefined) throw notFound(path);
  return one;
}
