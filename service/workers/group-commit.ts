import { ServiceError } from "../errors.ts";
import {
  type CommitOfInserts,
  mayShareCommit,
  type RowData,
  type WriteCalls,
  type WriteTarget,
} from "../lance/writes/write-calls.ts";
import { currentCall } from "../operations/shared/current-call.ts";

type Insert = WriteCalls["insertRows"];

interface Append {
  readonly caller: string | undefined;
  readonly target: WriteTarget;
  readonly data: RowData;
  readonly settle: (outcome: CommitOfInserts | ServiceError) => void;
}

/** Maximum appends of one commit, and maximum bytes of their rows. */
const maxAppends = 1000;
const maxBytes = 16 * 2 ** 20;

const bytesOf = (data: RowData): number => (data.kind === "file" ? data.size : data.bytes.byteLength);

/** Whether an error may be caused by the rows of one append, so that the others may succeed without it. */
const concernsOne = ({ status, transport }: ServiceError): boolean =>
  (status === 400 || status === 413) && transport !== "outcomeUnknown";

/**
 * Commits small appends to the same table together. While a commit runs, appends that arrive wait for the next one, so a
 * table that is idle adds no latency, and a busy one has one version and one fragment for many appends. Only a worker reads
 * the rows: it refuses those that cannot be together, as with different schemas, and then each is committed alone.
 */
export const groupAppends = (insert: Insert): Insert => {
  const waiting = new Map<string, Append[]>();

  const commit = async (appends: readonly [Append, ...Append[]]): Promise<void> => {
    const { target } = appends[0];
    try {
      const data = appends.map((append) => append.data) as [RowData, ...RowData[]];
      // Others wait for it, too: it does not end with the call of one.
      const commit = await currentCall.run({ caller: appends[0].caller }, () => insert(target, data, "append"));
      for (const [index, { settle }] of appends.entries()) {
        const inserted = commit.insertedBy[index] ?? 0;
        settle({ ...commit, rows: { ...commit.rows, inserted }, insertedBy: [inserted] });
      }
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
      bytes += bytesOf(append.data);
      return index > 0 && (bytes > maxBytes || index >= maxAppends);
    });
    return queue.splice(0, end === -1 ? queue.length : end);
  };

  /** Commits what waits in a group, until nothing does. */
  const drain = async (key: string, queue: Append[]): Promise<void> => {
    for (let next = take(queue); next.length > 0; next = take(queue)) await commit(next as [Append, ...Append[]]);
    waiting.delete(key);
  };

  return async (target, data, mode) => {
    const [only] = data;
    if (data.length > 1 || !mayShareCommit(only, mode)) return insert(target, data, mode);
    const key = JSON.stringify([target.table.key, target.branch ?? null]);
    const outcome = await new Promise<CommitOfInserts | ServiceError>((settle) => {
      const append: Append = { caller: currentCall.getStore()?.caller, target, data: only, settle };
      const queue = waiting.get(key);
      if (queue !== undefined) queue.push(append);
      else {
        const first = [append];
        waiting.set(key, first);
        void drain(key, first);
      }
    });
    if (outcome instanceof ServiceError) throw outcome;
    return outcome;
  };
};
