import type { AtLeast } from "../query/model.ts";

/** As LanceDB's clients send them: the version that the client saw last, and a time if it asks for consistency. */
const versionHeader = "x-lancedb-min-read-version";
const timeHeader = "x-lancedb-min-timestamp";

/** What a request says its client has seen. A header that cannot be read says nothing: it asks for freshness, no more. */
export const readAtLeast = (headers: Headers): AtLeast | undefined => {
  const version = Number(headers.get(versionHeader) ?? Number.NaN);
  const time = Date.parse(headers.get(timeHeader) ?? "");
  const known = { ...(Number.isSafeInteger(version) ? { version } : {}), ...(Number.isNaN(time) ? {} : { time }) };
  return Object.keys(known).length === 0 ? undefined : known;
};
