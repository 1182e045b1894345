import { randomUUID } from "node:crypto";
import { z } from "zod";
import { invalid } from "../errors.ts";
import { newColumnName, optional } from "../query/fields.ts";
import { jsonObject, listOf } from "../query/lists.ts";
import { closed } from "../query/unknown-field.ts";
import { type ExactType, exactTypeOf } from "./arrow-type.ts";
import type { FunctionVersion } from "./version.ts";

/**
 * The key of a field's metadata that binds a column to a Function. It says nothing that LanceDB's clients read: with their own keys,
 * they refuse to write such a table. Whoever creates a table can write it, so it grants nothing: a refresh needs the scope.
 */
export const bindingKey = "lakehead.function";

const maxColumns = 64;
const maxInitializationBytes = 4096;

export const binding = z.object({
  /** Of all columns that one call of the Function fills. */
  binding: z.string(),
  function: z.object({ id: z.array(z.string()).min(1), version: z.int().min(1), object: z.string() }),
  inputs: z.array(z.object({ parameter: z.string(), column: z.string() })),
  /** The field of the result that the column has; `$value`: all of it. */
  output: z.string(),
  /** The values that an instance of a class is made with. */
  initialization: z.record(z.string(), z.unknown()).optional(),
});

export type Binding = z.output<typeof binding>;

/** @returns undefined for a column that is not bound. @throws ServiceError code 13 for metadata that is not the service's own. */
export const readBinding = (metadata: Readonly<Record<string, string>> | undefined): Binding | undefined => {
  const text = metadata?.[bindingKey];
  if (text === undefined) return undefined;
  try {
    return binding.parse(JSON.parse(text));
  } catch {
    throw invalid(`the column's metadata ${bindingKey} is not that of a Function: drop the column and add it again`);
  }
};

const wholeResult = "$value";

const input = closed({
  parameter: z.string(),
  kind: z.literal("column", { error: "must be column: other values are not taken" }),
  value: closed({ path: z.string().min(1, { error: "must not be empty" }) }),
});

const application = closed({
  function: closed({
    name: z.string().min(1, { error: "must not be empty" }),
    namespace_path: optional(listOf(z.string(), 16)),
    version: z.string().regex(/^[1-9][0-9]{0,14}$/, { error: "must be the digits of a whole number, 1 or greater" }),
    object_id: optional(z.string()),
    location: optional(z.string()),
    manifest_digest: optional(z.string()),
  }),
  inputs: listOf(input, maxColumns),
  // What follows from the Function and the table is not read.
  output: optional(z.unknown()),
  columns: optional(jsonObject()),
  initialization: optional(jsonObject()),
});

const output = closed({
  output_name: newColumnName,
  result_field: z.string(),
  output_ordinal: optional(z.int().min(0)),
});

/** `function` in the body of add_columns. */
export const functionColumns = closed({
  application,
  binding_metadata_version: z.literal(1, { error: "must be 1" }),
  outputs: listOf(output, maxColumns).refine((outputs) => outputs.length > 0, { error: "is empty: name a column" }),
  input_bindings: optional(z.unknown()),
  input_schema: optional(z.unknown()),
  output_schema: optional(z.unknown()),
});

export type FunctionColumns = z.output<typeof functionColumns>;

/** A column of a table, with its type in Arrow's names. */
interface TableColumn {
  readonly name: string;
  readonly type: object;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** A column to add, without values. */
export interface BoundColumn {
  readonly name: string;
  readonly type: ExactType;
  readonly metadata: Readonly<Record<string, string>>;
}

/** A type without names and nullability of the items of lists, of which writers and tables disagree. */
const shapeOf = (type: ExactType | object): unknown => {
  const {
    type: kind,
    fields,
    length,
  } = type as { type: string; fields?: { name: string; type: object }[]; length?: number };
  if (fields === undefined) return kind;
  const inner = fields.map(({ name, type: child }) => (kind === "struct" ? [name, shapeOf(child)] : shapeOf(child)));
  return [kind, length ?? null, inner];
};

const isAlike = (left: ExactType, right: object): boolean =>
  JSON.stringify(shapeOf(left)) === JSON.stringify(shapeOf(right));

const typeOfOutput = ({ definition }: FunctionVersion, field: string): ExactType => {
  const { kind, arrow_type: scalar, fields = [] } = definition.signature.output;
  const fault = (): never => {
    throw invalid(`function.outputs: the Function has no result field ${JSON.stringify(field)}`);
  };
  if (kind === "scalar") return field === wholeResult ? (exactTypeOf(scalar ?? "") ?? fault()) : fault();
  const exact = fields.map(({ name, arrow_type: text, nullable = true }) => ({
    name,
    nullable,
    type: exactTypeOf(text) ?? fault(),
  }));
  if (field === wholeResult) return { fields: exact, type: "struct" };
  return exact.find(({ name }) => name === field)?.type ?? fault();
};

/** @throws ServiceError code 13 if the application is not one of this version. */
const verifyReference = ({ objectId, digest }: FunctionVersion, { application }: FunctionColumns): void => {
  const { object_id: object = objectId, manifest_digest: manifest = digest } = application.function;
  if (object !== objectId || manifest !== digest)
    throw invalid("the Function was dropped and registered anew: open it again with get_function");
};

const inputsOf = (
  { definition }: FunctionVersion,
  { application }: FunctionColumns,
  columns: readonly TableColumn[],
): Binding["inputs"] => {
  const { inputs } = definition.signature;
  const given = new Map(application.inputs.map(({ parameter, value }) => [parameter, value.path]));
  if (given.size !== application.inputs.length || given.size !== inputs.length)
    throw invalid(`function.application.inputs must name each of ${inputs.map(({ name }) => name).join(", ")} once`);
  return inputs.map(({ name, arrow_type: text }) => {
    const path = given.get(name);
    if (path === undefined) throw invalid(`function.application.inputs lacks the parameter ${name}`);
    const column = columns.find((each) => each.name === path);
    if (column === undefined)
      throw invalid(
        `function.application.inputs: the table has no column for the parameter ${name}; nested ones are not taken`,
      );
    const type = exactTypeOf(text);
    if (type === undefined)
      throw invalid(
        `function.application.inputs: ${name} is a blob, which Functions do not read: take a binary column, or one with the blob's address`,
      );
    if (!isAlike(type, column.type))
      throw invalid(
        `function.application.inputs: the column for ${name} is not of the type ${text}: cast it, or register the Function for its type`,
      );
    return { parameter: name, column: path };
  });
};

const initializationOf = (
  { definition }: FunctionVersion,
  { application }: FunctionColumns,
): Pick<Binding, "initialization"> => {
  const { initialization: fields = [] } = definition.signature;
  const given = application.initialization ?? {};
  const unknown = Object.keys(given).find((key) => !fields.some(({ name }) => name === key));
  if (unknown !== undefined)
    throw invalid(
      `function.application.initialization: the Function has no parameter ${JSON.stringify(unknown.slice(0, 64))}`,
    );
  const missing = fields.find(({ name, nullable }) => nullable !== true && !Object.hasOwn(given, name));
  if (missing !== undefined) throw invalid(`function.application.initialization lacks ${missing.name}`);
  if (Buffer.byteLength(JSON.stringify(given)) > maxInitializationBytes)
    throw invalid(`function.application.initialization has more than ${maxInitializationBytes} bytes as JSON`);
  return Object.keys(given).length === 0 ? {} : { initialization: given };
};

/** The columns that bind a Function to a table. @throws ServiceError code 13 for an application that does not fit. */
export const bind = (
  version: FunctionVersion,
  sent: FunctionColumns,
  names: readonly string[],
  columns: readonly TableColumn[],
): readonly BoundColumn[] => {
  verifyReference(version, sent);
  const outputs = sent.outputs.map(({ output_name: name }) => name);
  if (JSON.stringify(outputs.toSorted()) !== JSON.stringify(names.toSorted()))
    throw invalid("function.outputs must name each of new_columns once");
  const shared = {
    binding: randomUUID(),
    function: { id: [...version.id], version: version.version, object: version.objectId },
    inputs: inputsOf(version, sent, columns),
    ...initializationOf(version, sent),
  };
  return sent.outputs.map(({ output_name: name, result_field: field }) => ({
    name,
    type: typeOfOutput(version, field),
    metadata: { [bindingKey]: JSON.stringify({ ...shared, output: field } satisfies Binding) },
  }));
};
