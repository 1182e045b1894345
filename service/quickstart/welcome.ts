import type { Service } from "../start.ts";

const curl = (url: string, token: string, body: object): string =>
  `curl -s ${url} -H 'authorization: Bearer ${token}' -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;

/** A tag can be created only once, so each start prints a new name. */
const freshTag = (): string =>
  `try-${new Date()
    .toISOString()
    .replace(/[^0-9]/g, "")
    .slice(0, 14)}`;

/**
 * The output of `npm start` once the service listens: addresses, token and three commands.
 * @param description path of the API's description.
 */
export const welcome = ({ api, health }: Service, token: string, description: string, withSamples: boolean): string => {
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
  return [
    "",
    `  Lakehead table service   ${base}   (health: ${readiness}, API: ${base}${description})`,
    `  token for local use      ${token}`,
    "",
    ...(withSamples ? examples.flatMap(([title, line]) => [`  # ${title}`, line, ""]) : []),
    "",
  ].join("\n");
};
