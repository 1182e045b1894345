/** What a client does with a table, in the order of the matrix. */
export const operations = ["create", "append", "read", "delete, update", "compact", "overwrite", "drop"] as const;
export type Operation = (typeof operations)[number];

/** Where the files of the tables are. */
export const stores = ["S3", "Google", "a directory"] as const;
export type Store = (typeof stores)[number];

export interface Client {
  /** Its name and release, for the page. */
  readonly title: string;
  /** The language of its program, Python by default. */
  readonly program?: "python" | "java";
  /** What it cannot do, with the reason. */
  readonly without: Readonly<Partial<Record<Operation, string>>>;
  /** Why it has no tables outside of namespaces; absent: it has. */
  readonly noRoot?: string;
  /** Why a write of it must end before its credentials do; absent: it gets others. */
  readonly noRenewal?: string;
  /** Stores of the tests that it does not reach, with the reason. */
  readonly notOn?: Readonly<Partial<Record<Store, string>>>;
  /** The suite that runs it, where it is not this one. */
  readonly suite?: string;
}

type ClientName = "pylance" | "lancedb" | "lance-ray" | "daft" | "duckdb" | "spark" | "geneva";

const noCall = "no call with a catalog";
const noRenewal =
  "pylance renews them for files, but not for the commit of a write that several processes share, which must come before they end: `LAKEHEAD_VENDING_SECONDS`";
const noAddress = {
  Google: "their Lance is older, and knows no address of the store but Google's own, which the tests do not have",
};
const otherNames =
  "the extension takes other names for this than for reading: for `team` a table of that name at the root";

/**
 * Clients with the address of the service, a token and nothing else. The tests expect of each what this says, no less and no
 * more, on every store.
 */
export const clients: Readonly<Record<ClientName, Client>> = {
  pylance: { title: "pylance 14.0", without: {} },
  lancedb: { title: "`lancedb.connect_namespace` 0.40", without: {} },
  "lance-ray": { title: "lance-ray 0.5 on Ray 2.60", without: { "delete, update": noCall, drop: noCall }, noRenewal },
  daft: { title: "Daft 0.7 with daft-lance 0.6", without: { "delete, update": noCall, drop: noCall }, noRenewal },
  duckdb: {
    title: "DuckDB 1.5.5",
    without: { create: otherNames, compact: noCall, overwrite: noCall, drop: otherNames },
    notOn: noAddress,
  },
  spark: {
    title: "lance-spark 0.4 on Spark 3.5",
    program: "java",
    without: {},
    noRoot: "Spark's catalogs have namespaces alone, and its `default` is one",
    notOn: noAddress,
  },
  geneva: { title: "Geneva 0.17", without: {}, suite: "npm run test:geneva" },
};

/** What a client's program prints: its operations, at the root and in a namespace. */
export const operationsOf = ({ without, noRoot }: Client): readonly Operation[] => {
  const own = operations.filter((operation) => without[operation] === undefined);
  return noRoot === undefined ? [...own, ...own] : own;
};
