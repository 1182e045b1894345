/**
 * `npm start`: the service on a local database of public sample tables, without an account or configuration. Environment
 * variables of the service override its settings.
 */
import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { scopes } from "../auth/index.ts";
import { paths } from "../contract.ts";
import { welcome } from "./welcome.ts";

// See service/main.ts.
process.env.LANCEDB_LOG ??= "error";
const { removeStrayOptions } = await import("../lance/connection/environment.ts");
removeStrayOptions(process.env);
const { writeTables } = await import("../../tools/lance-tables.ts");
const { serveUntilSignal } = await import("../process-lifecycle.ts");

const home = resolve(process.env.LAKEHEAD_HOME ?? ".lakehead");
const sampleDatabase = join(home, "data");
const tokenFile = join(home, "token");

/** Written to a draft directory and renamed, so that an interrupted start leaves no partial database. */
const createSampleOnce = async (): Promise<void> => {
  if (existsSync(sampleDatabase)) return;
  process.stdout.write("creating the sample tables (first start only) …\n");
  const { quickstartTables } = await import("./dataset.ts");
  const draft = `${sampleDatabase}.${process.pid}`;
  await rm(draft, { recursive: true, force: true });
  await writeTables(draft, await quickstartTables());
  await rename(draft, sampleDatabase);
};

const localToken = async (): Promise<string> => {
  if (existsSync(tokenFile)) return (await readFile(tokenFile, "utf8")).trim();
  const token = randomBytes(24).toString("base64url");
  await writeFile(tokenFile, `${token}\n`, { mode: 0o600 });
  return token;
};

await mkdir(home, { recursive: true });
if (process.env.LAKEHEAD_DATABASE === undefined) await createSampleOnce();
const token = await localToken();
const sha256 = createHash("sha256").update(token).digest("hex");
const { LAKEHEAD_HOME: _, ...environment } = process.env;

const service = await serveUntilSignal({
  LAKEHEAD_DATABASE: sampleDatabase,
  LAKEHEAD_AUTH_STATIC_TOKENS: JSON.stringify([{ name: "local", sha256, scopes, tables: ["**"] }]),
  LAKEHEAD_AUTH_API_KEY: "true",
  LAKEHEAD_DRAIN_SECONDS: "0",
  LAKEHEAD_DOCS: "on",
  LAKEHEAD_CONSOLE: "on",
  LAKEHEAD_WRITES: "on",
  LAKEHEAD_STABLE_ROW_IDS: "on",
  ...environment,
});
const shown = {
  api: environment.LAKEHEAD_DOCS === "off" ? paths.openapi : paths.docs,
  console: environment.LAKEHEAD_CONSOLE !== "off",
  samples: environment.LAKEHEAD_DATABASE === undefined,
  writes: environment.LAKEHEAD_WRITES !== "off",
};
process.stdout.write(welcome(service, token, shown));
