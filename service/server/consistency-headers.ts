import type { HeaderSource } from "../auth/index.ts";
import type { MinimumState } from "../query/model.ts";

/** Sent by LanceDB's clients: the last version that the client read, and a time if it requires consistency. */
const versionHeader = "x-lancedb-min-read-version";
const timeHeader = "x-lancedb-min-timestamp";

/** The oldest state that a client accepts. A malformed header is ignored: it could only ask for fresher data. */
export const readMinimumState = (headers: HeaderSource): MinimumState | undefined => {
  const [sentVersion, sentTime] = [headers.get(versionHeader), headers.get(timeHeader)];
  if (typeof sentVersion !== "string" && typeof sentTime !== "string") return undefined;
  const version = Number(sentVersion ?? Number.NaN);
  const time = Date.parse(sentTime ?? "");
  const known = { ...(Number.isSafeInteger(version) ? { version } : {}), ...(Number.isNaN(time) ? {} : { time }) };
  return Object.keys(known).length === 0 ? undefined : known;
};
