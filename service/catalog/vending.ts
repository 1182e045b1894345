import { LRUCache } from "lru-cache";
import type { Principal } from "../auth/index.ts";
import { findOption } from "../config/storage-options.ts";
import { ServiceError } from "../errors.ts";
import type { TableId } from "../guard/table-id.ts";
import { type Place, placeOf } from "./place.ts";
import { type Right, rightOf, rights } from "./rights.ts";

type Options = Readonly<Record<string, string>>;

/** A credential of a store for one table. It never leaves the response. */
export interface Credential {
  readonly options: Options;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

interface Kept extends Credential {
  readonly issuedAt: number;
}

/** Asks the cloud for a credential. @param holder names the session, for the cloud's own log. */
export type Issue = (place: Place, right: Right, holder: string) => Promise<Credential>;

/** Who got what, for the audit line: nothing of the credential itself. */
export interface Loan {
  readonly right: Right;
  readonly bucket: string;
  readonly prefix: string;
  /** End of the credential, in ISO 8601. */
  readonly until: string;
}

export interface Vended {
  readonly storageOptions: Options;
  readonly loan: Loan;
}

export interface VendingCounts {
  readonly issued: number;
  readonly kept: number;
}

/** Credentials that are remembered, about 3 KiB each. */
const maxKept = 10_000;

/** A credential is given out again until this share of its life has passed. */
const keptShare = 0.5;

/** While the issuer is unavailable, also an older one, with this much of its life left, in milliseconds. */
const leastLifeMs = 5 * 60_000;

/** Lends credentials for the files of one table, each for one caller and one right. */
export class Vending {
  readonly #uri: string;
  readonly #most: Right;
  readonly #issue: Issue;
  readonly #now: () => number;
  readonly #kept: LRUCache<string, Kept, () => Promise<Credential>>;
  #issued = 0;
  #given = 0;

  /** @param uri of the database. @param most greatest right of any caller: a service that takes no writes lends none. */
  constructor(uri: string, most: Right, issue: Issue, now: () => number = Date.now) {
    this.#uri = uri;
    this.#most = most;
    this.#now = now;
    this.#issue = issue;
    this.#kept = new LRUCache({
      max: maxKept,
      ttl: 1,
      ttlResolution: 0,
      perf: { now: this.#now },
      ignoreFetchAbort: true,
      noDeleteOnFetchRejection: true,
      allowStaleOnFetchRejection: true,
      fetchMethod: async (_key, _stale, { options, context: ask }) => {
        const credential = await ask();
        const issuedAt = this.#now();
        options.ttl = Math.max(1, Math.floor((credential.expiresAt - issuedAt) * keptShare));
        return { ...credential, issuedAt };
      },
    });
  }

  get counts(): VendingCounts {
    return { issued: this.#issued, kept: this.#given - this.#issued };
  }

  /** The greatest right of a caller; undefined without any. */
  rightOf(principal: Principal): Right | undefined {
    const right = rightOf(principal);
    return right === undefined
      ? undefined
      : (rights[Math.min(rights.indexOf(right), rights.indexOf(this.#most))] ?? right);
  }

  /** @param address of the table. @throws ServiceError code 0 or 17 */
  async lend(table: TableId, address: string, right: Right, { method, subject }: Principal): Promise<Vended> {
    const place = placeOf(this.#uri, address, table);
    // The caller's present right is part of the key: with other rights it gets another credential, or none.
    const key = JSON.stringify([table.key, place.prefix, right, method, subject]);
    const ask = (): Promise<Credential> => {
      this.#issued++;
      return this.#issue(place, right, subject);
    };
    const credential = await this.#kept.fetch(key, { context: ask });
    this.#given++;
    if (credential === undefined) throw unavailable();
    const { options, expiresAt, issuedAt } = credential;
    const left = expiresAt - this.#now();
    if (left < Math.min(leastLifeMs, (expiresAt - issuedAt) / 4)) throw unavailable();
    return {
      storageOptions: { ...options, expires_at_millis: String(expiresAt) },
      loan: { right, ...place, until: new Date(expiresAt).toISOString() },
    };
  }
}

/**
 * Of the operator's options only those of these names: others are secrets, or would override the client's own.
 * @param wanted patterns of the operator's names, by the client's.
 */
export const publicOptions = (options: Options, wanted: Readonly<Record<string, RegExp>>): Options =>
  Object.fromEntries(
    Object.entries(wanted).flatMap(([name, pattern]) => {
      const found = findOption(options, pattern);
      return found === undefined ? [] : [[name, found]];
    }),
  );

/** @param cause for the log. */
export const unavailable = (cause?: unknown): ServiceError =>
  new ServiceError(17, { message: "the issuer of storage credentials is unavailable; retry", retryAfter: 5, cause });
