import { connectNamespace } from "@lancedb/lancedb";
import { Field, Int32, Schema } from "apache-arrow";
import { ServiceError } from "../../errors.ts";
import type { DatabaseAddress } from "../connection/connection.ts";
import { classifyWrite } from "../errors/classify-write.ts";
import { listTables } from "../reads/lists.ts";
import type { Commits } from "./commits.ts";
import type { WriteCalls } from "./write-calls.ts";

/** A storage version that the engine refuses after it has declared a table, and before it writes any of it. */
const refusedVersion = "none";
const refusal = "Unknown Lance storage version: none";

const anySchema = new Schema([new Field("id", new Int32())]);

/**
 * Declares a table: its name and directory are taken, its content follows. The SDK has no call for it, but a creation with
 * an unknown storage version declares the table and then fails. `test/service/catalog/declare.test.ts` pins that order.
 */
export const openDeclarations = (
  { uri, storageOptions }: DatabaseAddress,
  { connected, beforeCommit }: Pick<Commits, "connected" | "beforeCommit">,
): Pick<WriteCalls, "declareTable"> => ({
  async declareTable({ name, namespace }) {
    if ((await listTables(await connected(), namespace)).includes(name)) throw new ServiceError(5);
    await beforeCommit();
    const catalog = await connectNamespace("dir", {
      root: uri,
      // A table of the root is its directory. With a row of the namespace manifest it would outlive its drop.
      manifest_enabled: String(namespace.length > 0),
      ...Object.fromEntries(Object.entries(storageOptions).map(([key, value]) => [`storage.${key}`, value])),
    });
    try {
      await catalog.createEmptyTable(name, anySchema, [...namespace], {
        storageOptions: { ...storageOptions, new_table_data_storage_version: refusedVersion },
      });
    } catch (error) {
      if (error instanceof Error && error.message.includes(refusal)) return;
      throw classifyWrite(error);
    } finally {
      catalog.close();
    }
    throw new Error("the SDK has created a table that was only to be declared");
  },
});
