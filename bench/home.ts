import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type StoreRequest, startObjectStore } from "../test/support/object-store.ts";

/** Milliseconds until an object store answers, as within a region of a cloud. */
export const storeTimes = { latencyMs: 15, writeLatencyMs: 30 } as const;

/** Where the tables of a server are. */
export interface Home {
  /** A directory, or the address of a database in an object store. */
  readonly address: string;
  readonly storageOptions: Readonly<Record<string, string>>;
  /** The requests to the store since the last call. */
  take(): readonly StoreRequest[];
  close(): Promise<void>;
}

/** @param fill writes the first tables into a local directory; the store begins with them. */
export const openHome = async (isDirectory: boolean, fill?: (directory: string) => Promise<void>): Promise<Home> => {
  const directory = join(await mkdtemp(join(tmpdir(), "lakehead-bench-")), "data");
  const remove = () => rm(join(directory, ".."), { recursive: true, force: true });
  await mkdir(directory);
  await fill?.(directory);
  if (isDirectory) return { address: directory, storageOptions: {}, take: () => [], close: remove };
  const store = await startObjectStore({ seed: directory, weather: storeTimes });
  await remove();
  return { address: store.uri, storageOptions: store.storageOptions, take: store.take, close: store.close };
};

/** The environment of the service for its tables. */
export const environmentOf = ({ address, storageOptions }: Home): Readonly<Record<string, string>> => ({
  LAKEHEAD_DATABASE: address,
  LAKEHEAD_STORAGE_OPTIONS: JSON.stringify(storageOptions),
});

export const placeOf = (isDirectory: boolean): string =>
  isDirectory
    ? "tables in local directories"
    : `tables in object stores that answer reads after ${storeTimes.latencyMs} ms and writes after ${storeTimes.writeLatencyMs}`;
