/** A type of Arrow that tables can have, and its JSON form in the two vocabularies of the catalog's clients. */
export interface TypeCase {
  /** The expression of pyarrow. */
  readonly pyarrow: string;
  readonly lance: object;
  readonly arrow: object;
}

type Json = Readonly<Record<string, unknown>>;

const type = (name: string, length?: number): Json => ({ type: name, ...(length === undefined ? {} : { length }) });
const field = (name: string, of: Json, nullable = true): Json => ({ name, nullable, type: of });
const nested = (name: string, fields: readonly Json[], length?: number): Json => ({ ...type(name, length), fields });
const list = (of: Json, name = "list"): Json => nested(name, [field("item", of)]);
const vector = (of: Json, length: number): Json => nested("fixed_size_list", [field("item", of)], length);
const struct = (...fields: readonly Json[]): Json => nested("struct", fields);
const map = (name: string, key: string): Json =>
  nested(name, [field("entries", struct(field("key", type(key), false), field("value", type("int32"))), false)]);
const both = (pyarrow: string, lance: Json, arrow: Json = lance): TypeCase => ({ pyarrow, lance, arrow });
const named = (pyarrow: string, lance: string, arrow: string = lance): TypeCase =>
  both(pyarrow, type(lance), type(arrow));

/** Every type that Lance stores. LanceDB's clients read no map, but a list of the same layout. */
export const arrowTypes: readonly TypeCase[] = [
  named("pa.null()", "null"),
  named("pa.bool_()", "bool"),
  named("pa.int8()", "int8"),
  named("pa.int16()", "int16"),
  named("pa.int32()", "int32"),
  named("pa.int64()", "int64"),
  named("pa.uint8()", "uint8"),
  named("pa.uint16()", "uint16"),
  named("pa.uint32()", "uint32"),
  named("pa.uint64()", "uint64"),
  named("pa.float16()", "halffloat", "float16"),
  named("pa.float32()", "float", "float32"),
  named("pa.float64()", "double", "float64"),
  named("pa.string()", "string", "utf8"),
  named("pa.large_string()", "large_string", "large_utf8"),
  named("pa.binary()", "binary"),
  named("pa.large_binary()", "large_binary"),
  both("pa.binary(16)", type("fixed_size_binary", 16)),
  both("pa.decimal128(38, 10)", type("decimal:128:38:10"), type("decimal128", 38010)),
  both("pa.decimal256(50, 10)", type("decimal:256:50:10"), type("decimal256", 50010)),
  both("pa.decimal128(10, -2)", type("decimal:128:10:-2"), type("decimal128", 9998)),
  named("pa.date32()", "date32:day", "date32"),
  named("pa.date64()", "date64:ms", "date64"),
  named("pa.time32('s')", "time32:s", "time32"),
  named("pa.time32('ms')", "time32:ms", "time32"),
  named("pa.time64('us')", "time64:us", "time64"),
  named("pa.time64('ns')", "time64:ns", "time64"),
  named("pa.timestamp('s')", "timestamp:s:-", "timestamp"),
  named("pa.timestamp('ms')", "timestamp:ms:-", "timestamp"),
  named("pa.timestamp('us')", "timestamp:us:-", "timestamp"),
  named("pa.timestamp('ns')", "timestamp:ns:-", "timestamp"),
  named("pa.timestamp('us', 'Europe/Berlin')", "timestamp:us:Europe/Berlin", "timestamp"),
  named("pa.duration('s')", "duration:s", "duration"),
  named("pa.duration('ms')", "duration:ms", "duration"),
  named("pa.duration('us')", "duration:us", "duration"),
  named("pa.duration('ns')", "duration:ns", "duration"),
  both("pa.list_(pa.int32())", list(type("int32"))),
  both("pa.large_list(pa.float32())", list(type("float"), "large_list"), list(type("float32"), "large_list")),
  both("pa.list_(pa.float32(), 3)", vector(type("float"), 3), vector(type("float32"), 3)),
  both("pa.list_(pa.binary(4), 2)", vector(type("fixed_size_binary", 4), 2)),
  both(
    "pa.list_(pa.list_(pa.float32(), 2), 2)",
    vector(vector(type("float"), 2), 2),
    vector(vector(type("float32"), 2), 2),
  ),
  both(
    "pa.struct([pa.field('a', pa.int32(), False), pa.field('b', pa.large_list(pa.string()))])",
    struct(field("a", type("int32"), false), field("b", list(type("string"), "large_list"))),
    struct(field("a", type("int32"), false), field("b", list(type("utf8"), "large_list"))),
  ),
  both("pa.list_(pa.struct([('a', pa.int32())]))", list(struct(field("a", type("int32"))))),
  both("pa.large_list(pa.struct([('a', pa.int32())]))", list(struct(field("a", type("int32"))), "large_list")),
  named("pa.dictionary(pa.int16(), pa.string())", "dict:string:int16:false", "utf8"),
  named("pa.dictionary(pa.uint32(), pa.large_string())", "dict:large_string:uint32:false", "large_utf8"),
  named("pa.dictionary(pa.int8(), pa.int64())", "dict:int64:int8:false", "int64"),
  both("pa.uuid()", type("fixed_size_binary", 16)),
  named("pa.bool8()", "int8"),
  both("pa.map_(pa.string(), pa.int32())", map("list", "string"), map("map", "utf8")),
];

/** The column of a type, by its position in the list. */
export const columnOf = (index: number): string => `c${index}`;

/** An Arrow IPC stream that pyarrow 26.0.1 wrote: a column of each type, and no rows. */
export const typesStream: Uint8Array<ArrayBuffer> = new Uint8Array(
  Buffer.from(
    [
      "/////5ANAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAEAAAARPz//wQAAAAyAAAAQA0AAAgNAADQDAAAoAwAAHAMAABADAAADAwAAOALAAC0CwAAiAsA",
      "AGALAAAsCwAAAAsAANgKAACwCgAAiAoAAGAKAAA0CgAA/AkAALwJAACMCQAAYAkAADgJAAAMCQAA5AgAAKwIAAB8CAAAVAgAACgIAAD8BwAA0AcAAIwH",
      "AABgBwAAOAcAAAwHAADgBgAAhAYAACwGAADQBQAAdAUAAOgEAAAsBAAAqAMAACQDAADcAgAAgAIAACQCAAB8AQAAtAAAAAQAAACY8///AAABERQAAAAY",
      "AAAABAAAAAEAAAAQAAAAAwAAAGM0OQCM8///pPv//wAAAA0YAAAAIAAAAAQAAAACAAAASAAAABQAAAAHAAAAZW50cmllcwC88///8PP//wAAAQIQAAAA",
      "GAAAAAQAAAAAAAAABQAAAHZhbHVlAAAATPT//wAAAAEgAAAABPz//wAAAAUQAAAAFAAAAAQAAAAAAAAAAwAAAGtleQAQ9P//Tv///wAAAQIUAAAAmAAA",
      "AAgAAAAQAAAAAAAAAAMAAABjNDgAAgAAAEAAAAAEAAAAQPf//xgAAAAEAAAACwAAAGFycm93LmJvb2w4ABQAAABBUlJPVzpleHRlbnNpb246bmFtZQAA",
      "AAB49///EAAAAAQAAAAAAAAAAAAAABgAAABBUlJPVzpleHRlbnNpb246bWV0YWRhdGEAAAAACAAOAAgABwAIAAAAAAAAAQgAAAAAABIAGAAIAAYABwAM",
      "AAAAEAAUABIAAAAAAAEPFAAAAJAAAAAIAAAAEAAAAAAAAAADAAAAYzQ3AAIAAABAAAAABAAAAAT4//8YAAAABAAAAAoAAABhcnJvdy51dWlkAAAUAAAA",
      "QVJST1c6ZXh0ZW5zaW9uOm5hbWUAAAAAPPj//xAAAAAEAAAAAAAAAAAAAAAYAAAAQVJST1c6ZXh0ZW5zaW9uOm1ldGFkYXRhAAAAAI72//8QAAAAYP//",
      "/wAAAQIUAAAAQAAAABwAAAAEAAAAAAAAAAMAAABjNDYACAAUAAgABAAIAAAAEAAAAAIAAAAAAAAAAAAAACT2//8AAAABCAAAADD2//8AAAABQAAAALj/",
      "//8AAAEUFAAAADgAAAAcAAAABAAAAAAAAAADAAAAYzQ1AAgAEAAIAAQACAAAAAwAAAABAAAAAAAAACr3//8gAAAAGPb//xAAGAAIAAYABwAMABAAFAAQ",
      "AAAAAAABBRQAAAA0AAAAHAAAAAQAAAAAAAAAAwAAAGM0NAAIAAgAAAAEAAgAAAAEAAAAyPb//wAAAAEQAAAAbPb//6D2//8AAAEVFAAAABgAAAAEAAAA",
      "AQAAABAAAAADAAAAYzQzAJT2///I9v//AAABDRQAAAAcAAAABAAAAAEAAAAUAAAABAAAAGl0ZW0AAAAAwPb///T2//8AAAECEAAAABQAAAAEAAAAAAAA",
      "AAEAAABhAAAATPf//wAAAAEgAAAAIPf//wAAAQwUAAAAGAAAAAQAAAABAAAAEAAAAAMAAABjNDIAFPf//0j3//8AAAENFAAAABwAAAAEAAAAAQAAABQA",
      "AAAEAAAAaXRlbQAAAABA9///dPf//wAAAQIQAAAAFAAAAAQAAAAAAAAAAQAAAGEAAADM9///AAAAASAAAACg9///AAABDRgAAAAcAAAABAAAAAIAAAB0",
      "AAAAEAAAAAMAAABjNDEAmPf//8z3//8AAAEVFAAAABgAAAAEAAAAAQAAABAAAAABAAAAYgAAAMD3///09///AAABBRAAAAAYAAAABAAAAAAAAAAEAAAA",
      "aXRlbQAAAADo9///EAAUAAgAAAAHAAwAAAAQABAAAAAAAAACEAAAABQAAAAEAAAAAAAAAAEAAABhAAAAhPj//wAAAAEgAAAAWPj//wAAARAUAAAAGAAA",
      "AAQAAAABAAAAFAAAAAMAAABjNDAAZvn//wIAAACE+P//AAABEBQAAAAcAAAABAAAAAEAAAAYAAAABAAAAGl0ZW0AAAAAlvn//wIAAAC0+P//AAABAxAA",
      "AAAYAAAABAAAAAAAAAAEAAAAaXRlbQAAAACO+v//AAABAOD4//8AAAEQFAAAABgAAAAEAAAAAQAAABQAAAADAAAAYzM5AO75//8CAAAADPn//wAAAQ8Q",
      "AAAAGAAAAAQAAAAAAAAABAAAAGl0ZW0AAAAAGvr//wQAAAA4+f//AAABEBQAAAAYAAAABAAAAAEAAAAUAAAAAwAAAGMzOABG+v//AwAAAGT5//8AAAED",
      "EAAAABgAAAAEAAAAAAAAAAQAAABpdGVtAAAAAD77//8AAAEAkPn//wAAARUUAAAAGAAAAAQAAAABAAAAEAAAAAMAAABjMzcAhPn//7j5//8AAAEDEAAA",
      "ABgAAAAEAAAAAAAAAAQAAABpdGVtAAAAAJL7//8AAAEA5Pn//wAAAQwUAAAAGAAAAAQAAAABAAAAEAAAAAMAAABjMzYA2Pn//wz6//8AAAECEAAAABgA",
      "AAAEAAAAAAAAAAQAAABpdGVtAAAAAGj6//8AAAABIAAAADz6//8AAAESEAAAABQAAAAEAAAAAAAAAAMAAABjMzUAEvz//wAAAwBk+v//AAABEhAAAAAU",
      "AAAABAAAAAAAAAADAAAAYzM0ADr8//8AAAIAjPr//wAAARIQAAAAFAAAAAQAAAAAAAAAAwAAAGMzMwB8+v//sPr//wAAARIQAAAAFAAAAAQAAAAAAAAA",
      "AwAAAGMzMgCG/P//AAAAANj6//8AAAEKEAAAABQAAAAEAAAAAAAAAAMAAABjMzEA+P7//wAAAgAEAAAADQAAAEV1cm9wZS9CZXJsaW4AAAAY+///AAAB",
      "ChAAAAAUAAAABAAAAAAAAAADAAAAYzMwAO78//8AAAMAQPv//wAAAQoQAAAAFAAAAAQAAAAAAAAAAwAAAGMyOQAW/f//AAACAGj7//8AAAEKEAAAABQA",
      "AAAEAAAAAAAAAAMAAABjMjgAPv3//wAAAQCQ+///AAABChAAAAAUAAAABAAAAAAAAAADAAAAYzI3AID7//+0+///AAABCRAAAAAUAAAABAAAAAAAAAAD",
      "AAAAYzI2ANT///8AAAMAQAAAAOD7//8AAAEJEAAAABwAAAAEAAAAAAAAAAMAAABjMjUACAAMAAYACAAIAAAAAAACAEAAAAAU/P//AAABCRAAAAAUAAAA",
      "BAAAAAAAAAADAAAAYzI0AAT8//84/P//AAABCRAAAAAUAAAABAAAAAAAAAADAAAAYzIzAA7+//8AAAAAYPz//wAAAQgQAAAAFAAAAAQAAAAAAAAAAwAA",
      "AGMyMgBQ/P//hPz//wAAAQgQAAAAFAAAAAQAAAAAAAAAAwAAAGMyMQBa/v//AAAAAKz8//8AAAEHEAAAABQAAAAEAAAAAAAAAAMAAABjMjAAmP///woA",
      "AAD+////2Pz//wAAAQcQAAAAIAAAAAQAAAAAAAAAAwAAAGMxOQAAAAoAEAAEAAgADAAKAAAAMgAAAAoAAAAAAQAAFP3//wAAAQcQAAAAHAAAAAQAAAAA",
      "AAAAAwAAAGMxOAAIAAwABAAIAAgAAAAmAAAACgAAAEj9//8AAAEPEAAAABQAAAAEAAAAAAAAAAMAAABjMTcAUv7//xAAAABw/f//AAABExAAAAAUAAAA",
      "BAAAAAAAAAADAAAAYzE2AGD9//+U/f//AAABBBAAAAAUAAAABAAAAAAAAAADAAAAYzE1AIT9//+4/f//AAABFBAAAAAUAAAABAAAAAAAAAADAAAAYzE0",
      "AKj9///c/f//AAABBRAAAAAUAAAABAAAAAAAAAADAAAAYzEzAMz9//8A/v//AAABAxAAAAAUAAAABAAAAAAAAAADAAAAYzEyANb///8AAAIAKP7//wAA",
      "AQMQAAAAHAAAAAQAAAAAAAAAAwAAAGMxMQAAAAYACAAGAAYAAAAAAAEAWP7//wAAAQMQAAAAFAAAAAQAAAAAAAAAAwAAAGMxMABI/v//fP7//wAAAQIQ",
      "AAAAFAAAAAQAAAAAAAAAAgAAAGM5AACG////QAAAAKT+//8AAAECEAAAABQAAAAEAAAAAAAAAAIAAABjOAAArv///yAAAADM/v//AAABAhAAAAAUAAAA",
      "BAAAAAAAAAACAAAAYzcAANb///8QAAAA9P7//wAAAQIQAAAAHAAAAAQAAAAAAAAAAgAAAGM2AAAAAAYACAAEAAYAAAAIAAAAJP///wAAAQIQAAAAFAAA",
      "AAQAAAAAAAAAAgAAAGM1AAB8////AAAAAUAAAABQ////AAABAhAAAAAUAAAABAAAAAAAAAACAAAAYzQAAKj///8AAAABIAAAAHz///8AAAECEAAAABQA",
      "AAAEAAAAAAAAAAIAAABjMwAA1P///wAAAAEQAAAAqP///wAAAQIQAAAAHAAAAAQAAAAAAAAAAgAAAGMyAAAIAAwACAAHAAgAAAAAAAABCAAAANz///8A",
      "AAEGEAAAABQAAAAEAAAAAAAAAAIAAABjMQAAzP///xAAFAAIAAYABwAMAAAAEAAQAAAAAAABARAAAAAYAAAABAAAAAAAAAACAAAAYzAAAAQABAAEAAAA",
      "/////wAAAAA=",
    ].join(""),
    "base64",
  ),
);
