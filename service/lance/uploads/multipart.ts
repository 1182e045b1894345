import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../../errors.ts";
import { type DatabaseAddress, LazyConnection } from "../connection/connection.ts";
import { describeLocation } from "../connection/location.ts";
import { outcomeUnknown } from "../errors/classify-write.ts";
import { refuseView } from "../writes/bound-columns.ts";
import { type Commits, openCommits } from "../writes/commits.ts";
import type { InsertMode, RowData, WriteCalls, WriteTarget } from "../writes/write-calls.ts";
import type { LargeCommits } from "./large-commits.ts";
import {
  isUploadOf,
  newUploadId,
  noUpload,
  type StagedPart,
  Staging,
  stagingCaches,
  type UploadName,
  type UploadState,
  verifyPart,
  verifyUpload,
} from "./staging.ts";

export interface MultipartLimits {
  /** Bytes of one insert: what an upload is in the end. */
  readonly maxWriteBytes: number;
  /** Bytes of all parts of an upload; beyond one insert, a runner commits them. */
  readonly maxPartsBytes: number;
  /** Uploads of all callers at once; one may have as many as it leaves free. */
  readonly maxUploads: number;
  /** Milliseconds after which an upload is removed. */
  readonly keptMs: number;
  /** Milliseconds without a sign of life after which the process that commits is taken to have ended. */
  readonly leaseMs: number;
}

/** Whose call completes an upload. */
interface Completer {
  readonly caller: string;
  readonly stop: AbortSignal | undefined;
}

const pollMs = 250;
/** Milliseconds between two removals of expired uploads. */
const sweepMs = 600_000;

const inProgress = new ServiceError(19, { message: "upload_id: the upload is being completed, or is complete" });

const refuseUnlessOpen = ({ state }: UploadState): void => {
  if (state === "aborted") throw noUpload();
  if (state !== "open") throw inProgress;
};

const bytesOf = (parts: readonly StagedPart[]): number => parts.reduce((sum, { bytes }) => sum + bytes, 0);

const targetOf = ({ table, branch }: WriteTarget): string => JSON.stringify([table.key, branch ?? null]);

/**
 * Uploads in parts. All that is known of one lies in the store, so that any replica takes any part, and completes. Of several
 * that complete at once, one commits, and the others answer its version.
 */
export class MultipartUploads {
  readonly #staging: Staging;
  readonly #connection: LazyConnection;
  readonly #commits: Commits;
  readonly #writes: Pick<WriteCalls, "insertStaged" | "stagePart">;
  readonly #large: LargeCommits;
  readonly #limits: MultipartLimits;
  readonly #now: () => number;
  #sweeping: NodeJS.Timeout | undefined;

  /** @param writes of rows, which may run elsewhere. */
  constructor(
    address: DatabaseAddress,
    writes: Pick<WriteCalls, "insertStaged" | "stagePart">,
    large: LargeCommits,
    limits: MultipartLimits,
    now: () => number = Date.now,
  ) {
    this.#staging = new Staging(address, stagingCaches);
    // Not the handles of readers, which may be older than a commit.
    this.#connection = new LazyConnection(address, stagingCaches, undefined);
    this.#commits = openCommits(this.#connection, async () => undefined);
    this.#writes = writes;
    this.#large = large;
    this.#limits = limits;
    this.#now = now;
  }

  /** Removes what has expired from now on, also where nobody begins an upload. */
  watch(): void {
    this.#sweeping ??= setInterval(() => void this.#sweep().catch(() => undefined), sweepMs).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#sweeping);
    await Promise.all([this.#staging.close(), this.#connection.close()]);
  }

  /** @returns the id of the upload. @throws ServiceError code 17 or 21 if there are too many. */
  async create(target: WriteTarget, caller: string): Promise<string> {
    await this.#version(target);
    const open = (await this.#sweep()).filter(({ isOpen }) => isOpen);
    const own = open.filter((name) => isUploadOf(name, caller)).length;
    const { maxUploads } = this.#limits;
    if (open.length >= maxUploads)
      throw new ServiceError(17, { message: "the service is at its limit of uploads in parts; retry", retryAfter: 10 });
    if (own + 1 > maxUploads - open.length - 1 && own > 0)
      throw new ServiceError(21, {
        message: `this principal has ${own} uploads in parts, as many as it leaves free: complete or abort some`,
        retryAfter: 10,
      });
    const id = newUploadId(caller, this.#now());
    await this.#staging.create(id, targetOf(target));
    return id;
  }

  /** Bytes that an upload may still get. @throws ServiceError code 13 for one that takes no parts. */
  async room(id: string, part: string, caller: string): Promise<number> {
    this.#verify(id, caller);
    verifyPart(part);
    refuseUnlessOpen(await this.#staging.state(id));
    const others = (await this.#staging.parts(id)).filter((staged) => staged.part !== part);
    return this.#limits.maxPartsBytes - bytesOf(others);
  }

  async add(
    target: WriteTarget,
    upload: string,
    part: string,
    mode: InsertMode,
    data: RowData,
    caller: string,
  ): Promise<void> {
    await this.#open(target, upload, caller);
    const { maxPartsBytes, maxWriteBytes } = this.#limits;
    const maxBytes = target.branch === undefined ? maxPartsBytes : maxWriteBytes;
    await this.#writes.stagePart(target, { upload, part, mode, maxBytes }, data);
    // A part that arrives too late may be in the commit or not.
    await this.#open(target, upload, caller);
  }

  async abort(target: WriteTarget, id: string, caller: string): Promise<void> {
    const state = await this.#state(target, id, caller);
    if (
      state.state !== "aborted" &&
      !(await this.#staging.change(id, { state: "open", owner: "" }, { state: "aborted" }))
    )
      throw inProgress;
    await this.#staging.remove(id, false);
  }

  /**
   * Commits an upload unless that was done.
   * @param stop ends the wait for a runner.
   * @returns its version, and whether this call has committed.
   */
  async complete(
    target: WriteTarget,
    id: string,
    caller: string,
    stop?: AbortSignal,
  ): Promise<{ version: number; inserted?: number; before?: number }> {
    const owner = randomUUID();
    for (;;) {
      const state = await this.#state(target, id, caller);
      switch (state.state) {
        case "done":
          return { version: state.version };
        case "aborted":
          throw noUpload();
        case "open":
          if (await this.#take(target, id, state, owner)) return this.#commit(target, id, owner, { caller, stop });
          break;
        case "committing":
          if (state.leaseUntil < this.#now()) {
            // The process that began has ended: a later version of the table may be its commit.
            if ((await this.#version(target)) !== state.before && !(await this.#large.knows(id)))
              throw outcomeUnknown();
            if (await this.#take(target, id, state, owner)) return this.#commit(target, id, owner, { caller, stop });
          }
      }
      await sleep(pollMs);
    }
  }

  async #take(target: WriteTarget, id: string, from: UploadState, owner: string): Promise<boolean> {
    const before = from.state === "open" ? await this.#version(target) : from.before;
    const leaseUntil = this.#now() + this.#limits.leaseMs;
    return this.#staging.change(id, from, { state: "committing", owner, leaseUntil, before });
  }

  async #commit(
    target: WriteTarget,
    id: string,
    owner: string,
    by: Completer,
  ): Promise<{ version: number; inserted?: number; before?: number }> {
    const held = { state: "committing", owner } as const;
    const { leaseMs } = this.#limits;
    const renewal = setInterval(() => {
      const leaseUntil = this.#now() + leaseMs;
      void this.#staging.change(id, held, { leaseUntil }).catch(() => undefined);
    }, leaseMs / 4);
    try {
      const committed = await this.#insert(target, id, by);
      await this.#keep(id, held, committed.version);
      return committed;
    } catch (error) {
      // What was refused may be completed again, or aborted. Of an unknown outcome nothing else becomes known.
      if (error instanceof ServiceError && error.transport !== "outcomeUnknown")
        await this.#staging.change(id, held, { state: "open", owner: "" }).catch(() => undefined);
      throw error;
    } finally {
      clearInterval(renewal);
    }
  }

  /** Keeps the outcome for those who ask again. If the store does not take it, they read that it is unknown. */
  async #keep(id: string, held: Pick<UploadState, "state" | "owner">, version: number): Promise<void> {
    try {
      await this.#staging.change(id, held, { state: "done", owner: "", version });
      await this.#staging.remove(id, false);
    } catch {
      // The commit is done, and its version is the response.
    }
  }

  async #insert(
    target: WriteTarget,
    upload: string,
    by: Completer,
  ): Promise<{ version: number; inserted?: number; before?: number }> {
    const parts = await this.#staging.parts(upload);
    const [first] = parts;
    if (first === undefined) return { version: await this.#version(target) };
    if (parts.some(({ mode }) => mode !== first.mode))
      throw new ServiceError(13, { message: "mode: the parts of an upload must all append, or all overwrite" });
    const size = bytesOf(parts);
    const decodedBytes = parts.reduce((sum, part) => sum + part.decodedBytes, 0);
    if (target.branch === undefined && Math.max(size, decodedBytes) > this.#limits.maxWriteBytes)
      return this.#commitLarge(target, upload, first.mode, by);
    const { before, version, rows } = await this.#writes.insertStaged(
      target,
      { kind: "staged", upload, size },
      first.mode,
    );
    return { version, inserted: rows.inserted, ...(before === undefined ? {} : { before }) };
  }

  async #commitLarge(
    target: WriteTarget,
    upload: string,
    mode: InsertMode,
    { caller, stop }: Completer,
  ): Promise<{ version: number; inserted: number; before: number }> {
    const table = await this.#commits.open(target);
    let directory: string;
    let before: number;
    try {
      await refuseView(table);
      before = await table.version();
      directory = describeLocation(table).address.split("/").at(-1) ?? "";
    } finally {
      table.close();
    }
    const large = { upload, mode, table: target.table.key, directory, before };
    return { before, ...(await this.#large.commit(large, caller, stop)) };
  }

  /** The newest version. @throws ServiceError if there is no such table or branch. */
  async #version(target: WriteTarget): Promise<number> {
    const table = await this.#commits.open(target);
    try {
      return await table.version();
    } finally {
      table.close();
    }
  }

  #verify(id: string, caller: string): void {
    verifyUpload(id, caller, this.#now() - this.#limits.keptMs);
  }

  async #state(target: WriteTarget, id: string, caller: string): Promise<UploadState> {
    this.#verify(id, caller);
    const state = await this.#staging.state(id);
    if (state.target !== targetOf(target)) throw noUpload();
    return state;
  }

  async #open(target: WriteTarget, id: string, caller: string): Promise<void> {
    refuseUnlessOpen(await this.#state(target, id, caller));
  }

  /** Removes what has expired. @returns the uploads that have not. */
  async #sweep(): Promise<readonly UploadName[]> {
    const names = await this.#staging.names();
    const oldest = this.#now() - this.#limits.keptMs;
    for (const { id } of names.filter(({ begunAt }) => begunAt < oldest))
      await this.#staging.remove(id, true).catch(() => undefined);
    return names.filter(({ begunAt }) => begunAt >= oldest);
  }
}
