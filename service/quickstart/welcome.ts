import { paths } from "../contract.ts";
import type { Service } from "../start.ts";

const curl = (url: string, token: string, body: object): string =>
  `curl -s ${url} -H 'authorization: Bearer ${token}' -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;

/** A tag can be created only once, so each start prints a new name. */
const freshTag = (): string =>
  `try-${new Date()
    .toISOString()
    .replace(/[^0-9]/g, "")
    .slice(0, 14)}`;

interface Shown {
  /** Path of the API's description. */
  readonly api: string;
  readonly console: boolean;
  readonly samples: boolean;
  /** Whether clients may change tables. */
  readonly writes: boolean;
}

/** The output of `npm start` once the service listens: addresses, token and three commands. */
export const welcome = ({ api, health }: Service, token: string, shown: Shown): string => {
  const base = `http://${api.address}:${api.port}`;
  const table = `${base}/v1/table`;
  const readiness = `http://${health.address}:${health.port}/readyz`;
  const vector = [0.2, 0.2, 0.3, 0.4, 0.8, 0.8, 0.3, 0.5];
  const examples = [
    [
      "the plan of a vector search",
      curl(`${table}/earthquakes/explain_plan`, token, {
        query: { k: 5, vector, filter: "magnitude > 4", prefilter: true, columns: ["place"] },
      }),
    ],
    ["the statistics of a table in a namespace", curl(`${table}/antarctica%24palmer%24penguins/stats`, token, {})],
    [
      "a tag for the first version of a table",
      curl(`${table}/weather/tags/create`, token, { tag: freshTag(), version: 1 }),
    ],
  ] as const;
  // Browsers do not send the fragment of an address. The page accepts a token there on loopback only.
  const console = `${base}${paths.console}/#token=${token}`;
  return [
    "",
    ...(shown.console ? [`  console                  ${console}`] : []),
    `  Lakehead table service   ${base}   (health: ${readiness}, API: ${base}${shown.api})`,
    `  token for local use      ${token}`,
    ...(shown.writes
      ? [
          "  writes                   on: LanceDB's clients may create and change tables (LAKEHEAD_WRITES=off refuses it)",
        ]
      : []),
    "",
    ...(shown.samples ? examples.flatMap(([title, line]) => [`  # ${title}`, line, ""]) : []),
    "",
  ].join("\n");
};
