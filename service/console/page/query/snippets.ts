import type { Query } from "../api.ts";

export type RunKind = "explain" | "analyze" | "rows";

export interface Request {
  /** Address of the service, with a slash at the end. */
  readonly root: string;
  readonly table: string;
  readonly kind: RunKind;
  readonly query: Query;
}

const operations: Readonly<Record<RunKind, string>> = {
  explain: "explain_plan",
  analyze: "analyze_plan",
  rows: "query",
};

const addressOf = ({ root, table, kind }: Request): string =>
  `${root}v1/table/${encodeURIComponent(table)}/${operations[kind]}`;

const bodyOf = ({ kind, query }: Request): object => (kind === "explain" ? { query } : query);

const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const curl = (request: Request): string =>
  [
    `curl -sS ${shellQuoted(addressOf(request))}`,
    `  -H "authorization: Bearer $LAKEHEAD_TOKEN" -H 'content-type: application/json'`,
    `  -d ${shellQuoted(JSON.stringify(bodyOf(request)))}${request.kind === "rows" ? " -o rows.arrow" : ""}`,
  ].join(" \\\n");

const pythonWords: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [true, "True"],
  [false, "False"],
  [null, "None"],
]);

/** A JSON value as Python. JSON's escapes in strings are Python's too. */
const pythonOf = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(", ")}]`;
  if (typeof value !== "object" || value === null) return pythonWords.get(value) ?? JSON.stringify(value);
  const entries = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}: ${pythonOf(inner)}`);
  return `{${entries.join(", ")}}`;
};

const python = (request: Request): string =>
  [
    "import json, os, urllib.request",
    "",
    "request = urllib.request.Request(",
    `    ${JSON.stringify(addressOf(request))},`,
    `    data=json.dumps(${pythonOf(bodyOf(request))}).encode(),`,
    `    headers={"authorization": "Bearer " + os.environ["LAKEHEAD_TOKEN"], "content-type": "application/json"},`,
    ")",
    "with urllib.request.urlopen(request) as response:",
    ...(request.kind === "rows"
      ? [`    open("rows.arrow", "wb").write(response.read())  # pyarrow.ipc.open_file("rows.arrow").read_all()`]
      : ["    print(json.load(response))"]),
    "",
  ].join("\n");

const typescript = (request: Request): string =>
  [
    ...(request.kind === "rows" ? [`import { writeFile } from "node:fs/promises";`, ""] : []),
    `const response = await fetch(${JSON.stringify(addressOf(request))}, {`,
    `  method: "POST",`,
    `  headers: { authorization: \`Bearer \${process.env.LAKEHEAD_TOKEN}\`, "content-type": "application/json" },`,
    `  body: JSON.stringify(${JSON.stringify(bodyOf(request))}),`,
    "});",
    "if (!response.ok) throw new Error(await response.text());",
    request.kind === "rows"
      ? `await writeFile("rows.arrow", new Uint8Array(await response.arrayBuffer())); // tableFromIPC of apache-arrow`
      : "console.log(await response.json());",
    "",
  ].join("\n");

/** Programs that send the request exactly as the console does. The token comes from the environment. */
export const snippets: Readonly<Record<"curl" | "python" | "typescript", (request: Request) => string>> = {
  curl,
  python,
  typescript,
};
