/**
 * The service's operations behind a plain `node:http` server: no framework, authentication, admission limits, headers,
 * log or metrics. The difference to the service is the cost of its pipeline.
 */
import { createServer, type IncomingMessage } from "node:http";
import { compileTablePatterns, type Principal, scopes } from "../service/auth/index.ts";
import { readConfig } from "../service/config/config.ts";
import { verifyExpression } from "../service/guard/expression/index.ts";
import { requestLimits } from "../service/guard/limits.ts";
import { verifyBranchName, verifyNewBranchName, verifyNewTagName, verifyTagName } from "../service/guard/ref-name.ts";
import { readTableId } from "../service/guard/table-id.ts";
import { verifyQuery } from "../service/guard/verify-query.ts";
import { openInProcess } from "../service/lance/in-process-database.ts";
import { MaintenanceOnRequest } from "../service/maintenance/on-request.ts";
import { operations } from "../service/operations/index.ts";
import { OperationResponse, type Tools } from "../service/operations/operation.ts";
import { parseInput } from "../service/server/parse-input.ts";
import { createLog } from "../service/telemetry/log.ts";

const {
  database: databaseConfig,
  limits: configured,
  deadlineSeconds,
  maintenance,
  port,
  healthPort,
} = readConfig(process.env);
const limits = requestLimits(configured);
const database = openInProcess(databaseConfig);
await database.connect();

const principal: Principal = {
  subject: "bench",
  scopes: new Set(scopes),
  tables: compileTablePatterns(["**"]),
  method: "static-token",
};

const tools: Tools = {
  database,
  verifyQuery: async (_, query, executes) => verifyQuery(query, executes, limits),
  verifyPredicate: (predicate) => verifyExpression(predicate, limits.expression, "predicate"),
  verifyExpression: (expression, field) => verifyExpression(expression, limits.expression, field),
  verifyTag: (tag) => verifyTagName(tag, limits.maxTagLength),
  verifyNewTag: (tag) => verifyNewTagName(tag, limits.maxTagLength),
  verifyBranch: (branch) => verifyBranchName(branch, limits.maxTagLength),
  verifyNewBranch: (branch) => verifyNewBranchName(branch, limits.maxTagLength),
  deadlineSeconds,
  maintenance: new MaintenanceOnRequest(maintenance, databaseConfig, createLog("error")),
};

const readText = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
};

const answer = async (request: IncomingMessage): Promise<unknown> => {
  const [, , , rawPath = "", ...rest] = (request.url ?? "").split("/");
  const operation = operations.find(({ target, path }) => target === "table" && path === rest.join("/"));
  if (operation === undefined) throw new Error(`no such operation: ${request.url}`);
  const table = readTableId({ rawPath, delimiter: undefined, body: undefined }, limits);
  const body = parseInput(operation.body, JSON.parse(await readText(request)));
  const call = { parameters: {}, dialect: "catalog", delimiter: "$", principal, alternative: false } as const;
  const result = await operation.handle(tools, table, body, call);
  return result instanceof OperationResponse ? result.content : result;
};

createServer((request, response) => {
  answer(request).then(
    (body) => {
      const text = JSON.stringify(body);
      response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
      response.end(text);
    },
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
}).listen(port, "127.0.0.1");

createServer((request, response) => {
  const { user, system } = process.cpuUsage();
  response.end(request.url === "/metrics" ? `process_cpu_seconds_total ${(user + system) / 1e6}\n` : "ready");
}).listen(healthPort, "127.0.0.1");
process.on("SIGTERM", () => process.exit(0));
