import * as lancedb from "@lancedb/lancedb";
import * as arrow from "apache-arrow";

const field = (name: string, type: arrow.DataType, metadata?: Map<string, string>) =>
  new arrow.Field(name, type, true, metadata);

const schema = new arrow.Schema([
  field("id", new arrow.Int64()),
  field("x", new arrow.Float64()),
  field("s", new arrow.Utf8()),
  field("b", new arrow.Bool()),
  field("d", new arrow.DateDay()),
  field("ts", new arrow.TimestampMicrosecond()),
  field("tags", new arrow.List(field("item", new arrow.Utf8()))),
  field("nums", new arrow.List(field("item", new arrow.Int64()))),
  field("meta", new arrow.Struct([field("lang", new arrow.Utf8()), field("n", new arrow.Int64())])),
  field("Name With", new arrow.Utf8()),
  field("vector", new arrow.FixedSizeList(4, field("item", new arrow.Float32()))),
  field("json", new arrow.Utf8(), new Map([["ARROW:extension:name", "arrow.json"]])),
]);

const rows = Array.from({ length: 200 }, (_, id) => ({
  id: BigInt(id),
  x: id / 3,
  s: `row ${id} lorem ipsum dolor sit amet`,
  b: id % 2 === 0,
  d: new Date(1_700_000_000_000 + id * 86_400_000),
  ts: 1_700_000_000_000 + id,
  tags: ["a", `b${id}`],
  nums: [BigInt(id), 2n],
  meta: { lang: "en", n: BigInt(id) },
  "Name With": `n${id}`,
  vector: [id, 1, 2, 3],
  json: `{"a":${id},"b":[1,2],"s":"x","t":true}`,
}));

/** Creates a table of 200 rows with a column of every type that an expression can use. */
export const makeExpressionTable = async (directory: string, name: string): Promise<lancedb.Table> => {
  const connection = await lancedb.connect(directory);
  return connection.createTable(name, lancedb.makeArrowTable(rows, { schema }));
};
