/** A type of Arrow that tables can have, and its JSON form in the two vocabularies of the catalog's clients. */
export interface TypeCase {
  /** The expression of pyarrow. */
  readonly pyarrow: string;
  readonly lance: object;
  readonly arrow: object;
}

/** Every type that Lance stores. LanceDB's clients read no map, but a list of the same layout. */
export const arrowTypes: readonly TypeCase[] = [
  { pyarrow: "pa.null()", lance: { type: "null" }, arrow: { type: "null" } },
  { pyarrow: "pa.bool_()", lance: { type: "bool" }, arrow: { type: "bool" } },
  { pyarrow: "pa.int8()", lance: { type: "int8" }, arrow: { type: "int8" } },
  { pyarrow: "pa.int16()", lance: { type: "int16" }, arrow: { type: "int16" } },
  { pyarrow: "pa.int32()", lance: { type: "int32" }, arrow: { type: "int32" } },
  { pyarrow: "pa.int64()", lance: { type: "int64" }, arrow: { type: "int64" } },
  { pyarrow: "pa.uint8()", lance: { type: "uint8" }, arrow: { type: "uint8" } },
  { pyarrow: "pa.uint16()", lance: { type: "uint16" }, arrow: { type: "uint16" } },
  { pyarrow: "pa.uint32()", lance: { type: "uint32" }, arrow: { type: "uint32" } },
  { pyarrow: "pa.uint64()", lance: { type: "uint64" }, arrow: { type: "uint64" } },
  { pyarrow: "pa.float16()", lance: { type: "halffloat" }, arrow: { type: "float16" } },
  { pyarrow: "pa.float32()", lance: { type: "float" }, arrow: { type: "float32" } },
  { pyarrow: "pa.float64()", lance: { type: "double" }, arrow: { type: "float64" } },
  { pyarrow: "pa.string()", lance: { type: "string" }, arrow: { type: "utf8" } },
  { pyarrow: "pa.large_string()", lance: { type: "large_string" }, arrow: { type: "large_utf8" } },
  { pyarrow: "pa.binary()", lance: { type: "binary" }, arrow: { type: "binary" } },
  { pyarrow: "pa.large_binary()", lance: { type: "large_binary" }, arrow: { type: "large_binary" } },
  {
    pyarrow: "pa.binary(16)",
    lance: { type: "fixed_size_binary", length: 16 },
    arrow: { type: "fixed_size_binary", length: 16 },
  },
  {
    pyarrow: "pa.decimal128(38, 10)",
    lance: { type: "decimal:128:38:10" },
    arrow: { type: "decimal128", length: 38010 },
  },
  {
    pyarrow: "pa.decimal256(50, 10)",
    lance: { type: "decimal:256:50:10" },
    arrow: { type: "decimal256", length: 50010 },
  },
  {
    pyarrow: "pa.decimal128(10, -2)",
    lance: { type: "decimal:128:10:-2" },
    arrow: { type: "decimal128", length: 9998 },
  },
  { pyarrow: "pa.date32()", lance: { type: "date32:day" }, arrow: { type: "date32" } },
  { pyarrow: "pa.date64()", lance: { type: "date64:ms" }, arrow: { type: "date64" } },
  { pyarrow: "pa.time32('s')", lance: { type: "time32:s" }, arrow: { type: "time32" } },
  { pyarrow: "pa.time32('ms')", lance: { type: "time32:ms" }, arrow: { type: "time32" } },
  { pyarrow: "pa.time64('us')", lance: { type: "time64:us" }, arrow: { type: "time64" } },
  { pyarrow: "pa.time64('ns')", lance: { type: "time64:ns" }, arrow: { type: "time64" } },
  { pyarrow: "pa.timestamp('s')", lance: { type: "timestamp:s:-" }, arrow: { type: "timestamp" } },
  { pyarrow: "pa.timestamp('ms')", lance: { type: "timestamp:ms:-" }, arrow: { type: "timestamp" } },
  { pyarrow: "pa.timestamp('us')", lance: { type: "timestamp:us:-" }, arrow: { type: "timestamp" } },
  { pyarrow: "pa.timestamp('ns')", lance: { type: "timestamp:ns:-" }, arrow: { type: "timestamp" } },
  {
    pyarrow: "pa.timestamp('us', 'Europe/Berlin')",
    lance: { type: "timestamp:us:Europe/Berlin" },
    arrow: { type: "timestamp" },
  },
  { pyarrow: "pa.duration('s')", lance: { type: "duration:s" }, arrow: { type: "duration" } },
  { pyarrow: "pa.duration('ms')", lance: { type: "duration:ms" }, arrow: { type: "duration" } },
  { pyarrow: "pa.duration('us')", lance: { type: "duration:us" }, arrow: { type: "duration" } },
  { pyarrow: "pa.duration('ns')", lance: { type: "duration:ns" }, arrow: { type: "duration" } },
  {
    pyarrow: "pa.list_(pa.int32())",
    lance: { type: "list", fields: [{ name: "item", nullable: true, type: { type: "int32" } }] },
    arrow: { type: "list", fields: [{ name: "item", nullable: true, type: { type: "int32" } }] },
  },
  {
    pyarrow: "pa.large_list(pa.float32())",
    lance: { type: "large_list", fields: [{ name: "item", nullable: true, type: { type: "float" } }] },
    arrow: { type: "large_list", fields: [{ name: "item", nullable: true, type: { type: "float32" } }] },
  },
  {
    pyarrow: "pa.list_(pa.float32(), 3)",
    lance: { type: "fixed_size_list", length: 3, fields: [{ name: "item", nullable: true, type: { type: "float" } }] },
    arrow: {
      type: "fixed_size_list",
      length: 3,
      fields: [{ name: "item", nullable: true, type: { type: "float32" } }],
    },
  },
  {
    pyarrow: "pa.list_(pa.binary(4), 2)",
    lance: {
      type: "fixed_size_list",
      length: 2,
      fields: [{ name: "item", nullable: true, type: { type: "fixed_size_binary", length: 4 } }],
    },
    arrow: {
      type: "fixed_size_list",
      length: 2,
      fields: [{ name: "item", nullable: true, type: { type: "fixed_size_binary", length: 4 } }],
    },
  },
  {
    pyarrow: "pa.list_(pa.list_(pa.float32(), 2), 2)",
    lance: {
      type: "fixed_size_list",
      length: 2,
      fields: [
        {
          name: "item",
          nullable: true,
          type: {
            type: "fixed_size_list",
            length: 2,
            fields: [{ name: "item", nullable: true, type: { type: "float" } }],
          },
        },
      ],
    },
    arrow: {
      type: "fixed_size_list",
      length: 2,
      fields: [
        {
          name: "item",
          nullable: true,
          type: {
            type: "fixed_size_list",
            length: 2,
            fields: [{ name: "item", nullable: true, type: { type: "float32" } }],
          },
        },
      ],
    },
  },
  {
    pyarrow: "pa.struct([pa.field('a', pa.int32(), False), pa.field('b', pa.large_list(pa.string()))])",
    lance: {
      type: "struct",
      fields: [
        { name: "a", nullable: false, type: { type: "int32" } },
        {
          name: "b",
          nullable: true,
          type: { type: "large_list", fields: [{ name: "item", nullable: true, type: { type: "string" } }] },
        },
      ],
    },
    arrow: {
      type: "struct",
      fields: [
        { name: "a", nullable: false, type: { type: "int32" } },
        {
          name: "b",
          nullable: true,
          type: { type: "large_list", fields: [{ name: "item", nullable: true, type: { type: "utf8" } }] },
        },
      ],
    },
  },
  {
    pyarrow: "pa.list_(pa.struct([('a', pa.int32())]))",
    lance: {
      type: "list",
      fields: [
        {
          name: "item",
          nullable: true,
          type: { type: "struct", fields: [{ name: "a", nullable: true, type: { type: "int32" } }] },
        },
      ],
    },
    arrow: {
      type: "list",
      fields: [
        {
          name: "item",
          nullable: true,
          type: { type: "struct", fields: [{ name: "a", nullable: true, type: { type: "int32" } }] },
        },
      ],
    },
  },
  {
    pyarrow: "pa.large_list(pa.struct([('a', pa.int32())]))",
    lance: {
      type: "large_list",
      fields: [
        {
          name: "item",
          nullable: true,
          type: { type: "struct", fields: [{ name: "a", nullable: true, type: { type: "int32" } }] },
        },
      ],
    },
    arrow: {
      type: "large_list",
      fields: [
        {
          name: "item",
          nullable: true,
          type: { type: "struct", fields: [{ name: "a", nullable: true, type: { type: "int32" } }] },
        },
      ],
    },
  },
  {
    pyarrow: "pa.dictionary(pa.int16(), pa.string())",
    lance: { type: "dict:string:int16:false" },
    arrow: { type: "utf8" },
  },
  {
    pyarrow: "pa.dictionary(pa.uint32(), pa.large_string())",
    lance: { type: "dict:large_string:uint32:false" },
    arrow: { type: "large_utf8" },
  },
  {
    pyarrow: "pa.dictionary(pa.int8(), pa.int64())",
    lance: { type: "dict:int64:int8:false" },
    arrow: { type: "int64" },
  },
  {
    pyarrow: "pa.uuid()",
    lance: { type: "fixed_size_binary", length: 16 },
    arrow: { type: "fixed_size_binary", length: 16 },
  },
  { pyarrow: "pa.bool8()", lance: { type: "int8" }, arrow: { type: "int8" } },
  {
    pyarrow: "pa.map_(pa.string(), pa.int32())",
    lance: {
      type: "list",
      fields: [
        {
          name: "entries",
          nullable: false,
          type: {
            type: "struct",
            fields: [
              { name: "key", nullable: false, type: { type: "string" } },
              { name: "value", nullable: true, type: { type: "int32" } },
            ],
          },
        },
      ],
    },
    arrow: {
      type: "map",
      fields: [
        {
          name: "entries",
          nullable: false,
          type: {
            type: "struct",
            fields: [
              { name: "key", nullable: false, type: { type: "utf8" } },
              { name: "value", nullable: true, type: { type: "int32" } },
            ],
          },
        },
      ],
    },
  },
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
