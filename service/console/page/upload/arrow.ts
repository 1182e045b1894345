import { tableFromIPC } from "apache-arrow";
import type { Source } from "./source.ts";

/** An Arrow IPC file or stream. @throws Error for a compressed one. */
export const readArrow = async (file: File): Promise<Source> => {
  try {
    return { kind: "arrow", table: tableFromIPC(new Uint8Array(await file.arrayBuffer())) };
  } catch (error) {
    const { message } = error as Error;
    if (!/compress/i.test(message)) throw error;
    throw new Error('its rows are compressed: write it without, in pyarrow with compression="uncompressed"', {
      cause: error,
    });
  }
};
