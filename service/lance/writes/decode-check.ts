import { type Connection, connect, type Table } from "@lancedb/lancedb";
import { Field, Int8, Schema } from "apache-arrow";
import { ServiceError } from "../../errors.ts";

/** The native call of {@link Table.add} decodes all rows, then refuses a mode that does not exist. */
interface NativeTable {
  add(file: Buffer, mode: string): Promise<unknown>;
}

const noMode = "check";

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const undecodable = (cause: string): ServiceError =>
  new ServiceError(13, {
    message:
      "the rows are not valid Arrow data: a value is damaged or outside of its buffer; write them with an Arrow library",
    cause: new Error(cause),
  });

/**
 * Decodes rows without writing them. The SDK decodes the batches of a new table while it writes them, and a panic at a damaged
 * batch ends the rows early without an error: the table would be created with the batches before it.
 * @returns a function that throws ServiceError code 13 for rows that cannot be decoded.
 */
export const openDecodeCheck = (): ((file: Buffer) => Promise<void>) => {
  let scratch: Promise<{ connection: Connection; table: Table }> | undefined;
  const open = async () => {
    const connection = await connect("memory://");
    const schema = new Schema([new Field("unused", new Int8(), true)]);
    return { connection, table: await connection.createEmptyTable("scratch", schema) };
  };
  return async (file) => {
    scratch ??= open();
    const { table } = await scratch;
    const { inner } = table as unknown as { readonly inner: NativeTable };
    const outcome = await inner.add(file, noMode).then(() => "written", textOf);
    if (!outcome.startsWith("Invalid mode")) throw undecodable(outcome);
  };
};
