/** What a caller registers as a Function. The checks are all that the service ever does with its source. */
import { z } from "zod";
import { optional } from "../query/fields.ts";
import { listOf } from "../query/lists.ts";
import { closed } from "../query/unknown-field.ts";
import { describedType } from "./arrow-type.ts";
import { artifactOf, identifier } from "./artifact.ts";
import { runtimeOf, variableName } from "./runtime.ts";

/** Bytes of the source of one Function. */
const artifactBytes = 256 * 1024;
const maxPackages = 32;
const maxFields = 64;
const maxSecrets = 16;

const arrowType = z.string().transform((text, context) => {
  const type = describedType(text);
  if (type !== undefined) return type;
  context.addIssue({
    code: "custom",
    message:
      "must be bool, int8 to int64, uint8 to uint64, float16 to float64, utf8, large_utf8, binary, date32, date64, blob_v2, list<…>, large_list<…>, fixed_size_list<…, n> of them, or the JSON of a list or struct of them",
  });
  return z.NEVER;
});

const fieldName = z.string().min(1, { error: "must not be empty" }).max(256, { error: "has more than 256 characters" });
const field = closed({ name: fieldName, arrow_type: arrowType, nullable: optional(z.boolean()) });
const parameter = closed({ name: identifier, arrow_type: arrowType, nullable: optional(z.boolean()) });

const repeated = (names: readonly string[]): string | undefined =>
  names.find((name, index) => names.indexOf(name) !== index);

const output = closed({
  kind: z.enum(["scalar", "named_struct"], { error: "must be scalar or named_struct" }),
  arrow_type: optional(arrowType),
  nullable: optional(z.boolean()),
  fields: optional(listOf(field, maxFields)),
}).superRefine(({ kind, arrow_type: type, fields }, context) => {
  const fault = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
  if (kind === "scalar" && type === undefined) fault("arrow_type", "is missing: a scalar has a type");
  if (kind === "scalar" && fields !== undefined) fault("fields", "belong to named_struct: remove them");
  if (kind === "named_struct" && type !== undefined) fault("arrow_type", "belongs to scalar: remove it");
  if (kind === "named_struct" && fields === undefined) fault("fields", "is missing: a named_struct has fields");
  const twice = repeated((fields ?? []).map(({ name }) => name));
  if (twice !== undefined) fault("fields", `names ${JSON.stringify(twice)} twice`);
});

const signature = closed({
  inputs: listOf(parameter, maxFields).refine((inputs) => inputs.length > 0, {
    error: "is empty: a Function takes at least one column",
  }),
  output,
  initialization: optional(listOf(parameter, maxFields)),
}).superRefine(({ inputs, initialization = [] }, context) => {
  const twice = repeated([...inputs, ...initialization].map(({ name }) => name));
  if (twice !== undefined)
    context.addIssue({ code: "custom", path: ["inputs"], message: `names ${JSON.stringify(twice)} twice` });
});

/** A secret by its name, whose value the workers have as a file. A value would be refused as an unknown field. */
const secretBinding = closed({
  kind: z.literal("env", { error: "must be env" }),
  variable: variableName,
  secret_ref: closed({
    name: z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/, { error: "must be the name of a secret" }),
    namespace_path: optional(
      listOf(z.string().regex(/^[^/\\$\0]{1,256}$/, { error: "must be the name of a namespace" }), 16),
    ),
  }),
});

/** The fields of a registration, for the body of an operation. */
export const registrationShape = {
  artifact: artifactOf(artifactBytes),
  signature,
  runtime: runtimeOf(maxPackages),
  secret_bindings: optional(listOf(secretBinding, maxSecrets)),
};

interface Parts {
  readonly runtime: { readonly env?: Readonly<Record<string, string>> | undefined };
  readonly secret_bindings?: readonly { readonly variable: string }[] | undefined;
}

/** Checks that the parts of a registration agree. */
export const agree = ({ runtime, secret_bindings: secrets = [] }: Parts, context: z.RefinementCtx): void => {
  const twice = repeated([...Object.keys(runtime.env ?? {}), ...secrets.map(({ variable }) => variable)]);
  if (twice !== undefined)
    context.addIssue({ code: "custom", path: ["secret_bindings"], message: `set the variable ${twice} twice` });
};

export const registration = z.object(registrationShape).superRefine(agree);

export type Registration = z.output<typeof registration>;
