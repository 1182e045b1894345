import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { addressOf, type Described, labelOf } from "./document.ts";
import { type Resolve, type Schema, type Shapes, shapesOf } from "./shapes.ts";

interface Dumped {
  readonly package: string;
  readonly version: string;
  readonly operations: readonly {
    readonly name: string;
    readonly method: string;
    readonly path: string;
    readonly query: Readonly<Record<string, { readonly schema: Schema; readonly required: boolean }>>;
    readonly body: Schema | null;
    readonly bodyRequired: boolean;
    readonly requestType: string | null;
    readonly answerTypes: readonly string[];
    readonly answers: Readonly<Record<string, Schema | null>>;
  }[];
}

export interface Upstream {
  /** Package and version, for the output. */
  readonly source: string;
  readonly operations: readonly Described[];
}

const shapes = (schema: Schema | null | undefined, required = true): Shapes => {
  if (schema === null || schema === undefined) return new Map();
  const resolve: Resolve = (reference) => {
    const found = schema.$defs?.[reference.replace("#/models/", "")];
    if (found === undefined) throw new Error(`the upstream has no ${reference}`);
    return found;
  };
  return shapesOf(schema, resolve, required);
};

const describe = (operation: Dumped["operations"][number]): Described => {
  const { method, path, query, answers, requestType } = operation;
  const success = Object.keys(answers).find((status) => status.startsWith("2"));
  return {
    method,
    path,
    address: addressOf(path),
    label: labelOf(path),
    parameters: new Map(
      Object.entries(query).flatMap(([name, { schema, required }]) =>
        [...shapes(schema, required)].map(([place, shape]) => [`${name}${place}`, shape]),
      ),
    ),
    request: shapes(operation.body),
    requestTypes: requestType === null ? [] : [requestType],
    answer: success === undefined ? new Map() : shapes(answers[success]),
    answerTypes: operation.answerTypes,
    error: shapes(answers["400"]),
    statuses: Object.keys(answers),
  };
};

/** The specification's operations, as its generated Python client has them. */
export const readUpstream = async (python: string): Promise<Upstream> => {
  const script = fileURLToPath(new URL("upstream.py", import.meta.url));
  const { stdout } = await promisify(execFile)(python, [script], { maxBuffer: 64 * 2 ** 20 });
  const dumped = JSON.parse(stdout) as Dumped;
  return { source: `${dumped.package} ${dumped.version}`, operations: dumped.operations.map(describe) };
};
