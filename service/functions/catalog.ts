import { ServiceError } from "../errors.ts";
import type { FunctionVersion } from "./version.ts";

/** Where Functions are kept. Every method throws a native error or a ServiceError. */
export interface FunctionStore {
  /** All versions, in the order in which they were inserted. */
  read(): Promise<readonly FunctionVersion[]>;
  insert(version: FunctionVersion): Promise<void>;
  /** @returns whether it was there. */
  remove(objectId: string): Promise<boolean>;
  /** Keeps a source by its digest, from now on. */
  keepSource(digest: string, source: string, now: number): Promise<void>;
  /** Keeps a source longer. @returns whether it was there. */
  touchSource(digest: string, now: number): Promise<boolean>;
  source(digest: string): Promise<string | undefined>;
  /** Removes sources that were kept before a moment, but for some. */
  removeSources(before: number, except: ReadonlySet<string>): Promise<void>;
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

const keyOf = ({ id, version }: Pick<FunctionVersion, "id" | "version">): string => `${id.join("$")}@${version}`;

/** Of versions with one name and number, the first one counts. The others are about to be removed and numbered anew. */
export const withoutLosers = (versions: readonly FunctionVersion[]): readonly FunctionVersion[] => [
  ...new Map(versions.toReversed().map((version) => [keyOf(version), version])).values(),
];

const byNameAndVersion = (left: FunctionVersion, right: FunctionVersion): number => {
  const [one, other] = [left.id.join("$"), right.id.join("$")];
  return one === other ? left.version - right.version : one < other ? -1 : 1;
};

/** @throws ServiceError code 21 if a caller has too many versions. */
const refuseBeyond = (versions: readonly FunctionVersion[], owner: string, { maxVersions }: FunctionLimits): void => {
  const own = versions.filter((each) => each.owner === owner).length;
  const remedy = "drop some, or ask the operator to raise LAKEHEAD_MAX_FUNCTIONS";
  if (versions.length >= maxVersions)
    throw new ServiceError(21, { message: `there are ${versions.length} versions of Functions: ${remedy}` });
  if (own > 0 && own + 1 > maxVersions - versions.length)
    throw new ServiceError(21, {
      message: `this principal has ${own} versions of Functions, as many as it leaves free: ${remedy}`,
    });
};

export type NewVersion = Omit<FunctionVersion, "version" | "createdAt">;

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
  async list(): Promise<readonly FunctionVersion[]> {
    return withoutLosers(await this.#store.read()).toSorted(byNameAndVersion);
  }

  async find(id: readonly string[], version: number): Promise<FunctionVersion | undefined> {
    return (await this.list()).find((each) => keyOf(each) === keyOf({ id, version }));
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
      if (done !== undefined) return done;
      const newest = own.at(-1);
      if (newest?.digest === digest) return newest;
      refuseBeyond(before, owner, this.#limits);
      if (!(await this.#store.touchSource(definition.artifact.digest, this.#now()))) return undefined;
      const made = { ...wanted, version: (newest?.version ?? 0) + 1, createdAt: this.#now() };
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
  async drop({ objectId }: FunctionVersion): Promise<boolean> {
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
      const used = new Set((await this.list()).map(({ definition }) => definition.artifact.digest));
      await this.#store.removeSources(this.#now() - sourceMs, used);
      await this.#store.compact();
    } catch {
      // The version is registered or dropped.
    }
  }
}
