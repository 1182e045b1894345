import { operations } from "../../service/operations/index.ts";
import { methods } from "./judge.ts";
import type { CaseResult, Introduction } from "./result.ts";

/** Passed cases by operation (row) and client (column). */
export interface Matrix {
  readonly clients: readonly Introduction[];
  /** Numbers of cases, by operation and client. */
  readonly cases: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** The matrix as JSON, one line for each client and operation. */
export const renderMatrix = ({ clients, cases }: Matrix): string => {
  const lines = (values: readonly string[]): string => values.map((value) => `    ${value}`).join(",\n");
  const rows = Object.entries(cases).map(([operation, row]) => `${JSON.stringify(operation)}: ${JSON.stringify(row)}`);
  const names = clients.map((client) => JSON.stringify(client));
  return `{\n  "clients": [\n${lines(names)}\n  ],\n  "cases": {\n${lines(rows)}\n  }\n}\n`;
};

const prefix = {
  table: "",
  namespace: "namespace/",
  root: "/",
  function: "/function/{id}/",
  view: "/materialized_view/{id}/",
} as const;

/** Operations of the catalog and of LanceDB's clients that the service has, named as the clients' programs name them, in its own order. */
export const served: readonly string[] = operations
  .filter(({ extension }) => extension !== "service")
  .map(({ target, path }) => `${prefix[target]}${path.replace(/:(\w+)/g, "{$1}")}`);

export const makeMatrix = (clients: readonly Introduction[], results: readonly CaseResult[] = []): Matrix => {
  const asked = results.filter(({ operation }) => operation !== methods);
  const cases = Object.fromEntries(
    Object.entries(Object.groupBy(asked, ({ operation }) => operation)).map(([operation, row = []]) => [
      operation,
      Object.fromEntries(
        Object.entries(Object.groupBy(row, ({ client }) => client)).map(([client, own = []]) => [client, own.length]),
      ),
    ]),
  );
  return { clients, cases };
};

/** Two clients generated from one specification: both have the same operations. */
const generated = ["Python generated", "Rust generated"] as const;

/** Gaps of a complete matrix: served operations that no client called, and operations that only one generated client called. */
export const gaps = ({ cases }: Matrix): string[] => [
  ...served
    .filter((operation) => cases[operation] === undefined)
    .map((operation) => `${operation}: no client asked it`),
  ...Object.entries(cases).flatMap(([operation, row]) => {
    const [one, other] = generated.map((client) => row[client] !== undefined);
    return one === other ? [] : [`${operation}: asked by one of ${generated.join(" and ")} alone`];
  }),
];

/** Differences of two matrices, for the clients in both. */
export const differences = (before: Matrix, now: Matrix): string[] => {
  const both = now.clients.filter(({ client }) => before.clients.some((other) => other.client === client));
  const rows = [...new Set([...Object.keys(before.cases), ...Object.keys(now.cases)])];
  return both.flatMap(({ client }) =>
    rows.flatMap((operation) => {
      const [was, is] = [before, now].map(({ cases }) => cases[operation]?.[client] ?? 0);
      return was === is
        ? []
        : [`${client}, ${operation}: ${was} cases in matrix.json, ${is} now (-- --write stores it anew)`];
    }),
  );
};

const count = ({ cases }: Matrix, operation: string, client: string): number => cases[operation]?.[client] ?? 0;

/** Number of passed cases, with the total if some failed. */
const cell = (passed: number, failed: number): string => {
  if (failed > 0) return `${passed}/${passed + failed}`;
  return passed === 0 ? "–" : String(passed);
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** Rows of the matrix: a header, each served operation, and the number of others whose refusal the client understood. */
export const matrixRows = (
  passed: Matrix,
  failed: Matrix = { clients: [], cases: {} },
): readonly (readonly string[])[] => {
  const clients = passed.clients.map(({ client }) => client);
  const others = [...new Set([passed, failed].flatMap(({ cases }) => Object.keys(cases)))].filter(
    (operation) => !served.includes(operation),
  );
  const kinds = (of: Matrix, client: string): number =>
    sum(others.map((operation) => Math.min(1, count(of, operation, client))));
  return [
    ["operation", ...clients],
    ...served.map((operation) => [
      operation,
      ...clients.map((client) => cell(count(passed, operation, client), count(failed, operation, client))),
    ]),
    ["others, refused", ...clients.map((client) => cell(kinds(passed, client), kinds(failed, client)))],
  ];
};

/** Description of the columns, with clients of one package together. */
export const clientVersions = ({ clients }: Matrix): string =>
  Object.entries(Object.groupBy(clients, ({ version }) => version))
    .map(([version, of = []]) => `${of.map(({ client }) => client).join(", ")}: ${version}`)
    .join("; ");
