import { mkdir } from "node:fs/promises";
import { startObjectStore } from "../../test/support/object-store.ts";

/** Where the tables of a server are. */
export interface Home {
  /** A directory, or the address of a database in an object store. */
  readonly address: string;
  readonly storageOptions: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export const directoryHome = async (address: string): Promise<Home> => {
  await mkdir(address, { recursive: true });
  return { address, storageOptions: {}, close: async () => undefined };
};

/** An object store of its own. @param latencyMs milliseconds before each of its responses. */
export const storeHome = async (latencyMs: number): Promise<Home> => {
  const store = await startObjectStore({ weather: { latencyMs } });
  return { address: store.uri, storageOptions: store.storageOptions, close: () => store.close() };
};
