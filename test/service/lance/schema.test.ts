import { Field, LargeBinary, Schema, Table, tableToIPC } from "apache-arrow";
import { beforeAll, describe, expect, test } from "vitest";
import { readArrowSchema } from "../../../service/lance/arrow/schema.ts";
import { toJsonSchema } from "../../../service/lance/reads/schema.ts";
import { arrowTypes, columnOf, typesStream } from "../../support/arrow-types.ts";
import { useService } from "../../support/service.ts";
import { asRows, writesOn } from "../writes/support.ts";

const plan = { accept: "application/vnd.lakehead.plan+json" };

describe("the schema of a table with every type that Lance stores", () => {
  const service = useService({ environment: writesOn });

  beforeAll(async () => {
    const made = await service.call("create", "types", undefined, asRows(typesStream));
    expect(made.status, JSON.stringify(made.body)).toBe(200);
  }, 120_000);

  test.each([
    { form: "lance", clients: "LanceDB's clients", trailingSlash: true },
    { form: "arrow", clients: "the catalog's clients", trailingSlash: false },
  ] as const)("describe names each as $clients read it", async ({ form, trailingSlash }) => {
    const { status, body } = await service.call("describe", "types", {}, { trailingSlash });
    expect(status, JSON.stringify(body)).toBe(200);
    const described = body.schema.fields.map(({ name, type }: { name: string; type: object }) => [name, type]);
    expect(described).toEqual(arrowTypes.map((type, index) => [columnOf(index), type[form]]));
  });

  test("the plan document has each column", async () => {
    const query = { query: { vector: [], k: 1 } };
    const { status, body } = await service.call("explain_plan", "types", query, { headers: plan });
    expect(status, JSON.stringify(body)).toBe(200);
    const columns: readonly { readonly name: string }[] = body.facts.columns;
    expect(columns.map(({ name }) => name)).toEqual(arrowTypes.map((_, index) => columnOf(index)));
    expect(body.facts.missing).toEqual([]);
  });
});

describe("a schema as JSON", () => {
  test("keeps metadata of schema and fields", () => {
    const field = new Field("blob", new LargeBinary(), true, new Map([["encoding", "blob"]]));
    const schema = new Schema([field], new Map([["owner", "me"]]));
    expect(toJsonSchema(readArrowSchema(tableToIPC(new Table(schema), "file")), "arrow")).toMatchObject({
      metadata: { owner: "me" },
      fields: [{ metadata: { encoding: "blob" } }],
    });
  });

  test("rejects a type without a name in the vocabulary", () => {
    const type = {
      kind: 11,
      bits: 0,
      isSigned: false,
      unit: 0,
      precision: 0,
      scale: 0,
      timezone: undefined,
      length: 0,
    };
    const interval = { name: "i", nullable: true, type, keys: undefined, children: [], metadata: [] };
    expect(() => toJsonSchema({ fields: [interval], metadata: [] }, "lance")).toThrow(
      expect.objectContaining({ code: 0 }),
    );
  });
});
