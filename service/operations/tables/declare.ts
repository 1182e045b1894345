import { z } from "zod";
import { ServiceError } from "../../errors.ts";
import { optional } from "../../query/fields.ts";
import { defineOperation, OperationResponse } from "../operation.ts";
import { storageOptionsAnswer, vend, vendField } from "../shared/vend.ts";

const unsupported = (message: string): ServiceError => new ServiceError(0, { message });

/** The first call of a client that writes a table's files itself. */
export const declare = defineOperation({
  name: "declare_table",
  target: "table",
  path: "declare",
  scope: "manage",
  admission: "write",
  endsSoon: true,
  missing: [1],
  errors: [0, 5],
  summary: "Declares a table, whose files the client then writes itself",
  body: z.object({
    location: optional(z.string()).describe("Refused: the catalog chooses the location"),
    properties: optional(z.record(z.string(), z.string())).describe(
      "Refused: the catalog keeps no properties of tables",
    ),
    vend_credentials: vendField,
  }),
  answer: z.object({ location: z.string(), storage_options: storageOptionsAnswer }),
  handle: async (tools, table, { location, properties, vend_credentials: asked }, call) => {
    if (location !== undefined) throw unsupported("the catalog chooses the location of a table: leave location out");
    if (Object.keys(properties ?? {}).length > 0)
      throw unsupported("the catalog keeps no properties of tables: leave properties out");
    if (!tools.showsLocations)
      throw unsupported(
        "this service hides the locations of tables: use create, or ask the operator to set LAKEHEAD_TABLE_LOCATIONS=on",
      );
    await tools.database.declareTable(table);
    const { address } = await tools.database.declared(table);
    const vended = await vend(tools, table, address, call, asked);
    const content = { location: address, ...(vended && { storage_options: vended.storageOptions }) };
    return new OperationResponse(content, {}, { loan: vended?.loan });
  },
});
