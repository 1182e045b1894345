import type { Source } from "./source.ts";

/** Larger files are a job for a client: the browser holds the file and its rows. */
const maxFileBytes = 256 * 2 ** 20;

type Reader = (file: File) => Promise<Source>;

/** An Arrow IPC file or stream. @throws Error for a compressed one. */
const readArrow: Reader = async (file) => {
  const { tableFromIPC } = await import("apache-arrow");
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

/** By the end of a file's name. The programs that read them are loaded when they are used. */
const readers: Readonly<Record<string, Reader>> = {
  csv: async (file) => (await import("./csv.ts")).readCsv(file),
  tsv: async (file) => (await import("./csv.ts")).readCsv(file),
  parquet: async (file) => (await import("./parquet.ts")).readParquet(file),
  arrow: readArrow,
  arrows: readArrow,
  feather: readArrow,
};

export const fileEndings = Object.keys(readers);

/** @throws Error that names the file and what to do. */
export const readSource = async (file: File): Promise<Source> => {
  const ending = file.name.split(".").at(-1)?.toLowerCase() ?? "";
  const read = Object.hasOwn(readers, ending) ? readers[ending] : undefined;
  if (read === undefined)
    throw new Error(`${file.name}: the name must end with ${fileEndings.map((each) => `.${each}`).join(", ")}`);
  if (file.size > maxFileBytes)
    throw new Error(`${file.name} has more than ${maxFileBytes / 2 ** 20} MiB: send it with a client`);
  try {
    return await read(file);
  } catch (error) {
    throw new Error(`${file.name} cannot be read: ${(error as Error).message}`, { cause: error });
  }
};
