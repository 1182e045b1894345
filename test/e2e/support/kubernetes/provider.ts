/**
 * A Kubernetes provider of Pulumi's in TypeScript, for the kinds that this project makes. The objects go to the API server
 * that the provider's configuration names: created by POST, updated by server-side apply; previews are the server's own dry
 * run. It stands in where Pulumi's provider is neither on PATH nor in Pulumi's plugin folder. Source of what it does: pkg/await
 * and pkg/provider of pulumi-kubernetes 4.34.
 */

import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Api, ApiError, type KubernetesObject, UnknownKind } from "../api.ts";
import { readKubeconfig } from "../kubeconfig.ts";
import { annotation, asObject, idOf, liveOf, normalized, sealed, stateOf } from "./objects.ts";
import { awaitGone, awaitReady, unready } from "./readiness.ts";
import { named, readRelease, removeRelease, writeRelease } from "./release.ts";
import { covers, type Difference, differences, hasUnknown, isTree, prune, replaces, type Tree } from "./values.ts";

export interface Created {
  readonly id: string;
  readonly state: Tree;
  /** Why the object is not ready, though it is there. */
  readonly unready?: string;
}

export interface Diff {
  readonly differences: readonly Difference[];
  readonly replaces: readonly string[];
  readonly deleteBeforeReplace: boolean;
}

const releaseType = "kubernetes:helm.sh/v3:Release";
const defaultSeconds = 600;

const isRelease = (urn: string): boolean => (urn.split("::")[2] ?? "").split("$").at(-1) === releaseType;

/** What the dry run of a preview may be refused for while the rest of the program is not there yet. */
const tooEarly = (error: unknown): boolean =>
  error instanceof UnknownKind ||
  (error instanceof ApiError && (error.status === 403 || (error.status === 404 && error.subject === "namespaces")));

const exists = (error: unknown): boolean => error instanceof ApiError && error.status === 409;

/** The manager of fields that a creation sets; an update moves them to the one that applies. */
const createdBy = "pulumi-kubernetes";

/** Five more attempts where the kind is not served yet, each twice as long after the last. */
async function retried<Result>(submit: () => Promise<Result>): Promise<Result> {
  for (let wait = 1000; ; wait *= 2) {
    try {
      return await submit();
    } catch (error) {
      const missing = error instanceof UnknownKind || (error instanceof ApiError && error.status === 404);
      if (!missing || wait > 16_000) throw error;
      await sleep(wait);
    }
  }
}

interface Found {
  readonly state: Tree;
  readonly inputs: Tree;
  /** Why the object is not ready, though it is there. */
  readonly unready?: string;
}

export class KubernetesProvider {
  #api: Api | undefined;
  #upsert = false;
  #force = false;
  #why = "the provider is not configured";

  /** Takes the provider resource's inputs. A cluster that a preview cannot know yet is none. */
  configure(args: Tree): void {
    const flag = (name: string) => args[name] === true || args[name] === "true";
    this.#upsert = flag("upsertExistingObjects");
    this.#force = flag("enablePatchForce");
    if (!flag("enableServerSideApply") && args.enableServerSideApply !== undefined)
      throw new Error("this stand-in knows server-side apply alone");
    if (hasUnknown(args)) {
      this.#why = "the cluster is not known yet";
      return;
    }
    const { kubeconfig, context } = args;
    const text = isTree(kubeconfig) ? JSON.stringify(kubeconfig) : kubeconfig;
    this.#api = new Api(
      readKubeconfig(
        typeof text === "string" && text !== "" ? text : undefined,
        typeof context === "string" && context !== "" ? context : undefined,
      ),
    );
  }

  get #cluster(): Api {
    if (this.#api === undefined) throw new Error(`the cluster cannot be reached: ${this.#why}`);
    return this.#api;
  }

  check(urn: string, news: Tree): Tree {
    if (isRelease(urn)) return named(news, urn);
    const { metadata } = news;
    const name = isTree(metadata) ? metadata.name : undefined;
    if (name === undefined) throw new Error("this stand-in makes up no names: give the object a metadata.name");
    return sealed(normalized(news));
  }

  diff(urn: string, state: Tree, oldInputs: Tree, news: Tree, ignored: readonly string[]): Diff {
    const release = isRelease(urn);
    const before = release ? oldInputs : (prune(liveOf(state), normalized(oldInputs)) as Tree);
    const found = differences(before, normalized(news)).filter(
      ({ path }) => !ignored.some((property) => covers(property, path)),
    );
    const kind = String(news.kind ?? "");
    const forced = found
      .map(({ path }) => path)
      .filter((path) => (release ? path === "name" || path === "namespace" : replaces(kind, path)));
    const place = ({ metadata }: Tree) => (isTree(metadata) ? `${metadata.namespace}/${metadata.name}` : "");
    return {
      differences: found,
      replaces: forced,
      deleteBeforeReplace: forced.length > 0 && !release && place(state) === place(news),
    };
  }

  async create(urn: string, inputs: Tree, preview: boolean, seconds: number): Promise<Created> {
    if (preview && (this.#api === undefined || hasUnknown(inputs))) return { id: "", state: inputs };
    if (isRelease(urn)) {
      const state = await writeRelease(this.#cluster, inputs, undefined, preview);
      return { id: preview ? "" : `${inputs.namespace ?? "default"}/${inputs.name}`, state };
    }
    const object = asObject(inputs);
    const fieldManager = `pulumi-kubernetes-${randomBytes(4).toString("hex")}`;
    try {
      return await this.#submit(object, fieldManager, preview, seconds, () =>
        this.#upsert
          ? this.#apply(object, fieldManager, preview)
          : this.#cluster.create(object, { fieldManager: createdBy, dryRun: preview }),
      );
    } catch (error) {
      if (preview && (tooEarly(error) || exists(error))) return { id: "", state: inputs };
      throw error;
    }
  }

  async update(urn: string, state: Tree, news: Tree, preview: boolean, seconds: number): Promise<Created> {
    if (preview && (this.#api === undefined || hasUnknown(news))) return { id: "", state: news };
    if (isRelease(urn)) {
      const written = await writeRelease(this.#cluster, news, state, preview);
      return { id: `${news.namespace ?? "default"}/${news.name}`, state: written };
    }
    const manager = String(state.__fieldManager);
    const object = asObject(normalized(news));
    try {
      return await this.#submit(object, manager, preview, seconds, async () => {
        if (!preview) await this.#takeOver(object, manager);
        return this.#apply(object, manager, preview);
      });
    } catch (error) {
      if (preview && tooEarly(error)) return { id: "", state: news };
      throw error;
    }
  }

  #apply(object: KubernetesObject, fieldManager: string, preview: boolean): Promise<KubernetesObject> {
    const force = annotation(object as unknown as Tree, "pulumi.com/patchForce") === "true" || this.#force;
    return this.#cluster.apply(object, { fieldManager, dryRun: preview, force });
  }

  /** Gives the fields of the creation to the manager that applies, which could not remove them otherwise. */
  async #takeOver(object: KubernetesObject, manager: string): Promise<void> {
    const live = await this.#cluster.get(object);
    const fields = (live?.metadata.managedFields ?? []) as { manager: string; operation: string }[];
    const index = fields.findIndex((field) => field.manager === createdBy && field.operation === "Update");
    if (live === undefined || index < 0) return;
    const at = `/metadata/managedFields/${index}`;
    await this.#cluster.ask(
      "PATCH",
      await this.#cluster.path(object),
      [
        { op: "test", path: `${at}/manager`, value: createdBy },
        { op: "replace", path: `${at}/manager`, value: manager },
        { op: "replace", path: `${at}/operation`, value: "Apply" },
      ],
      "application/json-patch+json",
    );
  }

  /** Submits an object and waits for it. A kind may be missing for as long as its definition is new. */
  async #submit(
    object: KubernetesObject,
    fieldManager: string,
    preview: boolean,
    seconds: number,
    submit: () => Promise<KubernetesObject>,
  ): Promise<Created> {
    const tree = object as unknown as Tree;
    const applied = preview ? await submit() : await retried(submit);
    if (preview) {
      const { status, ...rest } = applied;
      return { id: "", state: stateOf(rest as KubernetesObject, fieldManager) };
    }
    const waits = annotation(tree, "pulumi.com/skipAwait") !== "true";
    const { live, reason } = waits
      ? await awaitReady(this.#cluster, applied, seconds || defaultSeconds)
      : { live: applied, reason: undefined };
    return {
      id: idOf(live),
      state: stateOf({ ...live, apiVersion: object.apiVersion, kind: object.kind }, fieldManager),
      ...(reason === undefined
        ? {}
        : { unready: `${object.kind} ${idOf(object)} was applied but is not ready: ${reason}` }),
    };
  }

  /** @returns undefined when the object is gone */
  async read(urn: string, state: Tree, oldInputs: Tree): Promise<Found | undefined> {
    if (isRelease(urn)) {
      const found = await readRelease(this.#cluster, state);
      return found === undefined ? undefined : { state: found, inputs: oldInputs };
    }
    const live = await this.#cluster.get(asObject(liveOf(state))).catch((error: unknown) => {
      if (error instanceof UnknownKind) return undefined;
      throw error;
    });
    if (live === undefined) return undefined;
    const inputs = prune(live as unknown as Tree, normalized(oldInputs)) as Tree;
    const reason = await unready(this.#cluster, live);
    return {
      state: stateOf(live, String(state.__fieldManager)),
      inputs: sealed(inputs),
      ...(reason === undefined ? {} : { unready: `${live.kind} ${idOf(live)} is not ready: ${reason}` }),
    };
  }

  async remove(urn: string, state: Tree, seconds: number): Promise<void> {
    if (isRelease(urn)) return removeRelease(this.#cluster, state);
    const object = asObject(liveOf(state));
    const background = annotation(state, "pulumi.com/deletionPropagationPolicy") === "background";
    await this.#cluster.remove(object, background ? "Background" : "Foreground");
    if (annotation(state, "pulumi.com/skipAwait") === "true") return;
    await awaitGone(this.#cluster, object, seconds || defaultSeconds);
  }
}
