import { z } from "zod";
import { authorize } from "../../auth/index.ts";
import { invalid, ServiceError } from "../../errors.ts";
import {
  agree,
  type Definition,
  definitionOf,
  describeVersion,
  digestOf,
  type Functions,
  type FunctionVersion,
  functionAnswer,
  type ListedFunction,
  maxDefinitionBytes,
  type Registration,
  registrationShape,
  sha256,
} from "../../functions/index.ts";
import type { NamespaceId } from "../../guard/table-id.ts";
import { JobFailed, type JobHandler } from "../../jobs/index.ts";
import { defineOperation, OperationResponse, type Tools } from "../operation.ts";
import { callerOf } from "../shared/current-call.ts";
import { pageOf, pageParameters, pageToken } from "../shared/page.ts";
import { emptyBody } from "../shared/snapshot.ts";

const version = z
  .string()
  .regex(/^[1-9][0-9]{0,14}$/, { error: "must be the digits of a whole number, 1 or greater" })
  .describe("The version, from the response that registered it");
const name = z.string().min(1, { error: "must not be empty" }).describe("The name, in the root namespace");

const source = "def double(x: int) -> int:\n    return x * 2\n";
const example = {
  artifact: {
    kind: "python_callable",
    digest: sha256(source),
    content: { encoding: "base64", data: Buffer.from(source).toString("base64") },
    entrypoint: "double",
    adapter: { kind: "scalar_to_arrow_batch", version: 1 },
  },
  signature: {
    inputs: [{ name: "x", arrow_type: "int64", nullable: false }],
    output: { kind: "scalar", arrow_type: "int64", nullable: false },
  },
  runtime: { kind: "python", python_version: "3.11", environment: { kind: "pip" } },
};

/** What every operation on Functions has in common. */
const common = { extension: "lancedb", scope: "functions", admission: "metadata" } as const;

/** These operations are served only where Functions are on. */
const served = ({ functions }: Tools): NonNullable<Tools["functions"]> => {
  if (functions === undefined) throw new Error("an operation on Functions is served, and they are off");
  return functions;
};

/** @throws ServiceError code 10 for a version that is not there. */
const find = async (tools: Tools, { parts }: NamespaceId, wanted: string): Promise<FunctionVersion> => {
  const found = await served(tools).find(parts, Number(wanted));
  if (found === undefined)
    throw new ServiceError(10, { message: `Function not found: there is no version ${wanted} of this name` });
  return found;
};

const create = async (tools: Tools, { parts, key }: NamespaceId, sent: Registration): Promise<OperationResponse> => {
  const { artifact } = sent;
  const definition = definitionOf(sent);
  const bytes = Buffer.byteLength(JSON.stringify(definition));
  if (bytes > maxDefinitionBytes)
    throw invalid(`the Function has ${bytes} bytes beside its source, more than ${maxDefinitionBytes}: shorten env`);
  const caller = callerOf();
  await served(tools).keepSource(artifact.digest, artifact.source, caller);
  const job = await tools.jobs.start({ type: "create_function", table: "", spec: { id: parts, definition } }, caller);
  return new OperationResponse({ job_id: job }, {}, { status: 202, function: { id: key, digest: artifact.digest } });
};

const creation = {
  errors: [],
  successes: [202],
  answer: z.object({ job_id: z.string() }),
} as const;

export const createFunction = defineOperation({
  ...common,
  ...creation,
  name: "create_function",
  target: "function",
  path: "create",
  summary: "Starts a job that registers a Function: its result is the version. The source is kept, and not run",
  body: z.object(registrationShape).superRefine(agree),
  example,
  handle: create,
});

export const createFunctionByName = defineOperation({
  ...common,
  ...creation,
  name: "create_function_by_name",
  target: "root",
  path: "functions/create",
  summary: "The same as create_function, for LanceDB's client 0.38",
  body: z.object({ name, ...registrationShape }).superRefine(agree),
  example: { name: "double", ...example },
  handle: (tools, _, { name, ...sent }, { principal }) => {
    const id = tools.guard.functionId(name);
    authorize(principal, common.scope, id.parts);
    return create(tools, id, sent);
  },
});

export const describeFunction = defineOperation({
  ...common,
  name: "describe_function",
  target: "function",
  path: "describe",
  errors: [10],
  summary: "Returns a version of a Function, without its source",
  body: z.object({ version }),
  example: { version: "1" },
  answer: functionAnswer,
  handle: async (tools, id, { version }) => describeVersion(await find(tools, id, version)),
});

export const describeFunctionByName = defineOperation({
  ...common,
  name: "describe_function_by_name",
  target: "root",
  path: "functions/describe",
  errors: [10],
  summary: "The same as describe_function, for LanceDB's client 0.38",
  body: z.object({ name, version }),
  example: { name: "double", version: "1" },
  answer: functionAnswer,
  handle: async (tools, _, { name, version }, { principal }) => {
    const id = tools.guard.functionId(name);
    authorize(principal, common.scope, id.parts);
    return describeVersion(await find(tools, id, version));
  },
});

export const dropFunction = defineOperation({
  ...common,
  name: "drop_function",
  target: "function",
  path: "drop",
  errors: [10],
  summary: "Removes a version of a Function",
  body: z.object({ version }),
  example: { version: "1" },
  answer: z.object({ dropped: z.boolean() }),
  handle: async (tools, id, { version }) => {
    const found = await find(tools, id, version);
    const dropped = await served(tools).drop(found);
    const audited = { id: id.key, digest: found.definition.artifact.digest };
    return new OperationResponse({ dropped }, {}, dropped ? { function: audited } : {});
  },
});

const maxListed = 100;
/** Bytes of the definitions on one page, but for those of its first Function. */
const maxPageBytes = 256 * 2 ** 10;

export const listFunctions = defineOperation({
  ...common,
  name: "list_functions",
  target: "namespace",
  path: "function/list",
  methods: ["GET"],
  missing: [],
  errors: [],
  summary: "Lists the permitted Functions directly in a namespace, by name and version",
  body: emptyBody,
  parameters: pageParameters.extend({
    include_definition: z
      .stringbool({ error: "must be true or false" })
      .optional()
      .describe("Accepted and ignored: definitions are always listed"),
  }),
  answer: z.object({ functions: z.array(z.object({ definition: functionAnswer })), page_token: pageToken }),
  handle: async (tools, { parts }, _, { parameters, principal }) => {
    const inside = (await served(tools).list()).filter(
      ({ id }) =>
        id.length === parts.length + 1 && parts.every((part, at) => id[at] === part) && principal.tables.permits(id),
    );
    const keyOf = ({ id, version }: ListedFunction): string => `${id.at(-1)}.${String(version).padStart(15, "0")}`;
    const limit = Math.min(parameters.limit ?? maxListed, maxListed);
    const sorted = inside.toSorted((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));
    let bytes = 0;
    const page = pageOf(sorted, { ...parameters, limit }, keyOf, undefined, (each, at) => {
      bytes += each.bytes;
      return at === 0 || bytes <= maxPageBytes;
    });
    const functions = (await served(tools).define(page.entries)).map((each) => ({ definition: describeVersion(each) }));
    return { functions, ...page.token };
  },
});

/** What a job of the type `create_function` does. The definition was verified, and its source kept, before it started. */
const createFunctionSpec = z.object({
  id: z.array(z.string()).min(1),
  definition: z.custom<Definition>((value) => typeof value === "object" && value !== null),
});

/** Registers a Function. Performed again, it finds what it has registered. */
export const createFunctionHandler = (functions: Pick<Functions, "register">): JobHandler => ({
  resumable: true,
  perform: async ({ id: objectId, owner, spec }) => {
    const { id, definition } = createFunctionSpec.parse(spec);
    const made = await functions.register({ objectId, id, definition, digest: digestOf(definition), owner });
    if (made === undefined)
      throw new JobFailed("register", "the source is no longer kept: register the Function again", true);
    return describeVersion(made);
  },
});
