/**
 * A Kubernetes provider of Pulumi's in TypeScript, for the kinds that this project makes. The objects go to the API server
 * that the provider's configuration names, by server-side apply; previews are the server's own dry run. It stands in where
 * Pulumi's provider, a Go program without a release that Go's module proxy has, cannot be built.
 */

import { randomBytes } from "node:crypto";
import { Api, ApiError, type KubernetesObject, UnknownKind } from "../api.ts";
import { readKubeconfig } from "../kubeconfig.ts";
import { annotation, asObject, idOf, liveOf, normalized, sealed, stateOf } from "./objects.ts";
import { awaitGone, awaitReady } from "./readiness.ts";
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
      const existing = await this.#cluster.get(object);
      if (existing !== undefined && !this.#upsert) {
        if (preview) return { id: "", state: inputs };
        throw new Error(`${object.kind} ${idOf(object)} already exists`);
      }
      return await this.#apply(object, fieldManager, preview, seconds);
    } catch (error) {
      if (preview && tooEarly(error)) return { id: "", state: inputs };
      throw error;
    }
  }

  async update(urn: string, state: Tree, news: Tree, preview: boolean, seconds: number): Promise<Created> {
    if (preview && (this.#api === undefined || hasUnknown(news))) return { id: "", state: news };
    if (isRelease(urn)) {
      const written = await writeRelease(this.#cluster, news, state, preview);
      return { id: `${news.namespace ?? "default"}/${news.name}`, state: written };
    }
    const manager = state.__fieldManager;
    try {
      return await this.#apply(asObject(normalized(news)), String(manager), preview, seconds);
    } catch (error) {
      if (preview && tooEarly(error)) return { id: "", state: news };
      throw error;
    }
  }

  async #apply(object: KubernetesObject, fieldManager: string, preview: boolean, seconds: number): Promise<Created> {
    const tree = object as unknown as Tree;
    const force = annotation(tree, "pulumi.com/patchForce") === "true" || this.#force;
    const applied = await this.#cluster.apply(object, { fieldManager, dryRun: preview, force });
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
  async read(urn: string, state: Tree, oldInputs: Tree): Promise<{ state: Tree; inputs: Tree } | undefined> {
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
    return { state: stateOf(live, String(state.__fieldManager)), inputs: sealed(inputs) };
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
