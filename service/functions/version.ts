import { z } from "zod";
import { sha256 } from "./artifact.ts";
import type { Registration } from "./registration.ts";

/** A registration without the source, which is kept by its digest. */
export type Definition = Omit<Registration, "artifact"> & {
  readonly artifact: Omit<Registration["artifact"], "source">;
};

/** A version of a Function in the list of all, without its definition. It never changes. */
export interface ListedFunction {
  /** The id of the job that registered it. */
  readonly objectId: string;
  /** Namespaces and name. */
  readonly id: readonly string[];
  /** From 1. */
  readonly version: number;
  /** Of the definition. */
  readonly digest: string;
  /** The caller that registered it, as the pipeline names callers. */
  readonly owner: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Bytes of the definition as JSON. */
  readonly bytes: number;
}

/** A version of a Function, as the service keeps it. */
export type FunctionVersion = ListedFunction & { readonly definition: Definition };

/** Bytes of a definition as JSON. A job's specification and its result hold one. */
export const maxDefinitionBytes = 32_768;

export const definitionOf = ({ artifact, ...registration }: Registration): Definition => {
  const { source: _, ...kept } = artifact;
  return { ...registration, artifact: kept };
};

/** Definitions of one digest do the same: their keys have the order of the schema. */
export const digestOf = (definition: Definition): string => sha256(JSON.stringify(definition));

const field = z.object({ name: z.string(), arrow_type: z.string(), nullable: z.boolean() });
const digest = z.string().describe("sha256: and 64 hexadecimal digits");

/** A version as releases from 0.38 to 0.41 of LanceDB's clients read it: each ignores what it does not know. */
export const functionAnswer = z.object({
  name: z.string(),
  namespace_path: z.array(z.string()),
  object_id: z.string(),
  location: z.string(),
  version: z.string().describe("A whole number, from 1"),
  image: z.object({ manifest_digest: digest, descriptor: z.object({}), source: z.boolean() }),
  signature: z.object({
    inputs: z.array(field),
    output: z.object({
      kind: z.enum(["scalar", "named_struct"]),
      arrow_type: z.string().optional(),
      nullable: z.boolean().optional(),
      fields: z.array(field).optional(),
    }),
    initialization: z.array(field).optional(),
  }),
  secret_bindings: z.array(z.object({}).loose()),
  metadata: z.record(z.string(), z.string()),
  disabled: z.boolean(),
  created_at: z.string(),
  created_at_millis: z.int(),
  artifact: z.object({ kind: z.string(), digest, entrypoint: z.string() }),
  runtime: z.object({}).loose(),
  runtime_digest: digest,
  environment_digest: digest,
});

export type FunctionAnswer = z.output<typeof functionAnswer>;

type Field = Registration["signature"]["inputs"][number];
const described = ({ nullable = false, ...rest }: Field) => ({ ...rest, nullable });

export const describeVersion = ({ id, version, definition, ...record }: FunctionVersion): FunctionAnswer => {
  const { artifact, signature, runtime, secret_bindings: secrets = [] } = definition;
  const { kind, arrow_type: type, nullable = false, fields } = signature.output;
  const output = kind === "scalar" ? { arrow_type: type, nullable } : { fields: (fields ?? []).map(described) };
  const { initialization } = signature;
  const at = record.createdAt;
  return {
    name: id.at(-1) ?? "",
    namespace_path: id.slice(0, -1),
    object_id: record.objectId,
    location: `functions/${record.objectId}`,
    version: String(version),
    // There is no image: the cluster installs the packages.
    image: { manifest_digest: record.digest, descriptor: {}, source: true },
    signature: {
      inputs: signature.inputs.map(described),
      output: { kind, ...output },
      ...(initialization === undefined ? {} : { initialization: initialization.map(described) }),
    },
    secret_bindings: secrets.map((secret) => ({ ...secret })),
    metadata: {},
    disabled: false,
    created_at: new Date(at).toISOString(),
    created_at_millis: at,
    artifact: { kind: artifact.kind, digest: artifact.digest, entrypoint: artifact.entrypoint },
    runtime: { ...runtime },
    runtime_digest: sha256(JSON.stringify(runtime)),
    environment_digest: sha256(JSON.stringify(runtime.environment)),
  };
};
