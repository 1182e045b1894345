import { createHash } from "node:crypto";
import { ServiceError } from "../errors.ts";
import { outlineOf, type StreamOutline } from "../lance/arrow-stream.ts";
import type { CommitOfRows, RowData, WriteCalls, WriteTarget } from "../lance/write-calls.ts";

type Insert = WriteCalls["insertRows"];

interface Append {
  readonly target: WriteTarget;
  readonly data: RowData & { readonly kind: "bytes" };
  readonly rows: number;
  /** Bytes of the rows, as sent or decompressed, whichever are more. */
  readonly bytes: number;
  readonly settle: (outcome: CommitOfRows | ServiceError) => void;
}

/** Maximum appends of one commit, and maximum bytes of their rows. */
const maxAppends = 1000;
const maxBytes = 16 * 2 ** 20;

/**
 * Appends that may share a commit: to the same branch, with the same schema, without dictionaries, which a file holds only
 * once. @returns undefined for one that shares with no other.
 */
const groupOf = ({ table, branch }: WriteTarget, { schema, dictionaries }: StreamOutline): string | undefined =>
  dictionaries.length > 0
    ? undefined
    : JSON.stringify([table.key, branch ?? null, createHash("sha256").update(schema.bytes).digest("base64")]);

/** Whether an error may be caused by the rows of one append, so that the others may succeed without it. */
const concernsOne = ({ status, transport }: ServiceError): boolean =>
  (status === 400 || status === 413) && transport !== "outcomeUnknown";

/**
 * Commits small appends to the same table together. While a commit runs, appends that arrive wait for the next one, so a
 * table that is idle adds no latency, and a busy one has one version and one fragment for many appends.
 */
export const groupAppends = (insert: Insert): Insert => {
  const waiting = new Map<string, Append[]>();

  const commit = async (appends: readonly [Append, ...Append[]]): Promise<void> => {
    const { target } = appends[0];
    try {
      const data = appends.map((append) => append.data) as [RowData, ...RowData[]];
      const { rows: _, ...version } = await insert(target, data, "append");
      for (const { rows, settle } of appends) settle({ ...version, rows: { inserted: rows, updated: 0, deleted: 0 } });
    } catch (error) {
      const failure = error instanceof ServiceError ? error : new ServiceError(18, { cause: error });
      // Nothing was committed.
      if (appends.length > 1 && concernsOne(failure)) for (const append of appends) await commit([append]);
      else for (const { settle } of appends) settle(failure);
    }
  };

  const take = (queue: Append[]): readonly Append[] => {
    let bytes = 0;
    const end = queue.findIndex((append, index) => {
      bytes += append.bytes;
      return index > 0 && (bytes > maxBytes || index >= maxAppends);
    });
    return queue.splice(0, end === -1 ? queue.length : end);
  };

  /** Commits what waits in a group, until nothing does. */
  const drain = async (group: string, queue: Append[]): Promise<void> => {
    for (let next = take(queue); next.length > 0; next = take(queue)) await commit(next as [Append, ...Append[]]);
    waiting.delete(group);
  };

  return async (target, data, mode) => {
    const [only] = data;
    if (mode !== "append" || data.length > 1 || only.kind !== "bytes") return insert(target, data, mode);
    const outline = outlineOf(only.bytes);
    const group = groupOf(target, outline);
    if (group === undefined) return insert(target, data, mode);
    const outcome = await new Promise<CommitOfRows | ServiceError>((settle) => {
      const bytes = Math.max(only.bytes.byteLength, outline.decodedBytes);
      const append: Append = { target, data: only, rows: outline.rows, bytes, settle };
      const queue = waiting.get(group);
      if (queue !== undefined) queue.push(append);
      else {
        const first = [append];
        waiting.set(group, first);
        void drain(group, first);
      }
    });
    if (outcome instanceof ServiceError) throw outcome;
    return outcome;
  };
};
