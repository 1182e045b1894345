/**
 * Functions: Python source that callers register, and that a cluster of Ray runs on columns of tables. To this service a source
 * is bytes with a digest: nothing here, or anywhere else in it, parses, imports, unpickles or runs one.
 */

export type { ExactField, ExactType } from "./arrow-type.ts";
export { sha256 } from "./artifact.ts";
export {
  type Binding,
  type BoundColumn,
  bind,
  binding,
  bindingKey,
  type FunctionColumns,
  functionColumns,
  readBinding,
} from "./binding.ts";
export { type FunctionLimits, type FunctionStore, Functions, type NewVersion } from "./catalog.ts";
export { agree, type Registration, registration, registrationShape } from "./registration.ts";
export type { RowError, RowErrorQuery } from "./row-error.ts";
export {
  type Definition,
  definitionOf,
  describeVersion,
  digestOf,
  type FunctionVersion,
  functionAnswer,
  type ListedFunction,
  maxDefinitionBytes,
} from "./version.ts";
