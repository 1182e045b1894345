import { ServiceError } from "../errors.ts";
import type { Definition, FunctionVersion, ListedFunction } from "./version.ts";

/** Where Functions are kept. Every method throws a native error or a ServiceError. */
export interface FunctionStore {
  /** All versions, in the order in which they were inserted. */
  read(): Promise<readonly ListedFunction[]>;
  /** @returns the definitions that are there, by the ids of their objects. */
  definitions(objectIds: readonly string[]): Promise<ReadonlyMap<string, Definition>>;
  insert(version: Omit<FunctionVersion, "bytes">): Promise<void>;
  /** @returns whether it was there. */
  remove(objectId: string): Promise<boolean>;
  /** Keeps a source by its digest, from now on. */
  keepSource(digest: string, source: string, now: number): Promise<void>;
  /** Keeps a source longer. @returns whether it was there. */
  touchSource(digest: string, now: number): Promise<boolean>;
  source(digest: string): Promise<string | undefined>;
  /** Removes sources that were kept before a moment and that no version has. */
  removeSources(before: number): Promise<void>;
  compact(): Promise<void>;
  close(): Promise<void>;
}

export interface FunctionLimits {
  /** Versions of all callers; one caller may have as many as it leaves free. */
  readonly maxVersions: number;
}

/** Registrations of one name at once. */
const attempts = 10;
/** Longer than a registration takes between keeping its source and its version, in milliseconds. */
const sourceMs = 600_000;

const keyOf = ({ id, version }: Pick<ListedFunction, "id" | "version">): string => `${id.join("$")}@${version}`;

/** Of versions with one name and number, the first one counts. The others are about to be removed and numbered anew. */
export const withoutLosers = (versions: readonly ListedFunction[]): readonly ListedFunction[] => [
  ...new Map(versions.toReversed().map((version) => [keyOf(version), version])).values(),
];

const byNameAndVersion = (left: ListedFunction, right: ListedFunction): number => {
  const [one, other] = [left.id.join("$"), right.id.join("$")];
  return one === other ? left.version - right.version : one < other ? -1 : 1;
};

/** @throws ServiceError code 21 if a caller has too many versions. */
const refuseBeyond = (versions: readonly ListedFunction[], owner: string, { maxVersions }: FunctionLimits): void => {
  const own = versions.filter((each) => each.owner === owner).length;
  const remedy = "drop some, or ask the operator to raise LAKEHEAD_MAX_FUNCTIONS";
  if (versions.length >= maxVersions)
    throw new ServiceError(21, { message: `there are ${versions.length} versions of Functions: ${remedy}` });
  if (own > 0 && own + 1 > maxVersions - versions.length)
    throw new ServiceError(21, {
      message: `this principal has ${own} versions of Functions, as many as it leaves free: ${remedy}`,
    });
};

export type NewVersion = Omit<FunctionVersion, "version" | "createdAt" | "bytes">;

/** The Functions of the database. Their source is kept and handed on, and never run. */
export class Functions {
  readonly #store: FunctionStore;
  readonly #limits: FunctionLimits;
  readonly #now: () => number;

  constructor(store: FunctionStore, limits: FunctionLimits, now: () => number = Date.now) {
    this.#store = store;
    this.#limits = limits;
    this.#now = now;
  }

  /** All versions, by name and version. */
  async list(): Promise<readonly ListedFunction[]> {
    return withoutLosers(await this.#store.read()).toSorted(byNameAndVersion);
  }

  /** Versions of a list with their definitions, without those that were dropped meanwhile. */
  async define(listed: readonly ListedFunction[]): Promise<readonly FunctionVersion[]> {
    const definitions = await this.#store.definitions(listed.map(({ objectId }) => objectId));
    return listed.flatMap((each) => {
      const definition = definitions.get(each.objectId);
      return definition === undefined ? [] : [{ ...each, definition }];
    });
  }

  async find(id: readonly string[], version: number): Promise<FunctionVersion | undefined> {
    const listed = (await this.list()).filter((each) => keyOf(each) === keyOf({ id, version }));
    return (await this.define(listed))[0];
  }

  /** @returns undefined for a source that was never kept, or whose versions were all dropped. */
  source(digest: string): Promise<string | undefined> {
    return this.#store.source(digest);
  }

  /** Keeps the source of a version that is about to be registered. @throws ServiceError code 21 */
  async keepSource(digest: string, source: string, owner: string): Promise<void> {
    refuseBeyond(await this.list(), owner, this.#limits);
    await this.#store.keepSource(digest, source, this.#now());
  }

  /**
   * Gives a definition the next number of its name, or finds the newest version if it is the same. Whoever inserts a number
   * first has it: what it reads then holds all that were inserted before. It can be called again with the same object.
   * @returns undefined if the source is no longer kept.
   */
  async register(wanted: NewVersion): Promise<FunctionVersion | undefined> {
    const { id, objectId, digest, definition, owner } = wanted;
    const key = id.join("$");
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const before = await this.list();
      const own = before.filter((each) => each.id.join("$") === key);
      const done = own.find((each) => each.objectId === objectId);
      const newest = own.at(-1);
      const same = done ?? (newest?.digest === digest ? newest : undefined);
      if (same !== undefined) return { ...same, definition };
      refuseBeyond(before, owner, this.#limits);
      if (!(await this.#store.touchSource(definition.artifact.digest, this.#now()))) return undefined;
      const made = {
        ...wanted,
        version: (newest?.version ?? 0) + 1,
        createdAt: this.#now(),
        bytes: Buffer.byteLength(JSON.stringify(definition)),
      };
      await this.#store.insert(made);
      const first = (await this.#store.read()).find((each) => keyOf(each) === keyOf(made));
      if (first?.objectId === objectId) {
        await this.#tidy();
        return made;
      }
      await this.#store.remove(objectId);
    }
    throw new ServiceError(14, { message: "other callers register this Function at the same time; retry" });
  }

  /** @returns whether it was there. */
  async drop({ objectId }: Pick<ListedFunction, "objectId">): Promise<boolean> {
    const removed = await this.#store.remove(objectId);
    await this.#tidy();
    return removed;
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  /** What fails here is done by the next call. */
  async #tidy(): Promise<void> {
    try {
      await this.#store.removeSources(this.#now() - sourceMs);
      await this.#store.compact();
    } catch {
      // The version is registered or dropped.
    }
  }
}
