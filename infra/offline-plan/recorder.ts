/**
 * Takes the engine's place in a run: records every registration under its URN and returns the inputs, as the engine does in
 * a dry run for a provider without preview support, with placeholders for unknown identifiers.
 */

import { type Invocation, noOptions, type PlannedResource, providerUrn, stackType, urnOf } from "./capture.ts";
import { echoed, placeholders } from "./unknowns.ts";
import { decodeProperties, type Properties, unknownMarker } from "./values.ts";

/** A value tree as google.protobuf.Struct encodes it. */
export type Wire = Record<string, unknown>;

/** The parts of a registration request that a plan uses; lists may be empty, strings may be "". */
export interface Registration {
  readonly type: string;
  readonly name: string;
  readonly parent: string;
  readonly kind: "custom" | "component" | "remote";
  readonly object: Wire;
  readonly provider: string;
  readonly dependencies: readonly string[];
  readonly propertyDependencies: Readonly<Record<string, readonly string[]>>;
  readonly protect: boolean | undefined;
  readonly retainOnDelete: boolean | undefined;
  readonly deleteBeforeReplace: boolean;
  readonly ignoreChanges: readonly string[];
  readonly replaceOnChanges: readonly string[];
  readonly secretOutputs: readonly string[];
  readonly aliases: readonly string[];
  readonly deletedWith: string;
  readonly importId: string;
  readonly timeouts: Readonly<Record<string, string>>;
  readonly version: string;
}

export interface ReadRequest {
  readonly type: string;
  readonly name: string;
  readonly parent: string;
  readonly id: string;
  readonly object: Wire;
  readonly provider: string;
  readonly dependencies: readonly string[];
  readonly version: string;
}

/** Id and outputs of a created resource, in a run as an update. */
export interface Created {
  readonly id: string;
  readonly outputs: Wire;
}

/** The origin of an invoke. */
export interface AnswerContext {
  readonly project: string;
  readonly stack: string;
  /** Inputs of the explicit provider; empty for the default provider. */
  readonly provider: Properties;
}

export interface RecorderOptions {
  readonly project: string;
  readonly stack: string;
  /** In a dry run, whether unknown identifiers are placeholders (`unknowns.ts`). */
  readonly placeholders?: boolean;
  /** Fabricates ids and outputs. Absent in a dry run. */
  readonly create?: (resource: { type: string; name: string; urn: string; inputs: Wire }) => Created;
  /** Returns the result of a provider function (an "invoke"); undefined for an unknown function. */
  readonly answer: (token: string, args: Properties, context: AnswerContext) => Wire | undefined;
}

/** The program sees this as the failure of its call. */
export class Refusal extends Error {}

const sortedUnique = (urns: readonly string[]): string[] => [...new Set(urns)].sort();

// The SDK writes the stack's type into the URNs of aliases of its direct children; the engine does not.
const engineForm = (urn: string): string => urn.replace(`::${stackType}$`, "::");

export class Recorder {
  readonly #resources = new Map<string, PlannedResource>();
  readonly #invocations: Invocation[] = [];
  readonly #options: RecorderOptions;
  /** The texts that are unknown values of this run. */
  readonly #unknowns = new Set<unknown>([unknownMarker]);

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  get project(): string {
    return this.#options.project;
  }

  get stack(): string {
    return this.#options.stack;
  }

  /** All registered resources, sorted by URN. */
  resources(): PlannedResource[] {
    return [...this.#resources.values()].sort((a, b) => (a.urn < b.urn ? -1 : a.urn > b.urn ? 1 : 0));
  }

  /** Whether the program got a placeholder. */
  get placed(): boolean {
    return this.#unknowns.size > 1;
  }

  invocations(): readonly Invocation[] {
    return this.#invocations;
  }

  /**
   * Records a resource and returns what the program gets.
   *
   * @throws Refusal when the URN is already registered.
   */
  register(request: Registration): { urn: string; id: string; object: Wire } {
    const { project, stack, create } = this.#options;
    const parent = this.#resources.get(request.parent);
    const urn =
      request.type === stackType
        ? `urn:pulumi:${stack}::${project}::${stackType}::${request.name}`
        : urnOf(project, stack, request.type, request.name, request.parent === "" ? undefined : request.parent);
    // Children inherit three options, as in the engine (deploy/source_eval.go, inheritFromParent).
    const deletedWith = request.deletedWith || parent?.deletedWith;
    this.#add({
      urn,
      type: request.type,
      name: request.name,
      ...(request.parent === "" ? {} : { parent: request.parent }),
      kind: request.type === stackType ? "stack" : request.kind,
      ...(request.provider === "" ? {} : { provider: providerUrn(request.provider) }),
      inputs: decodeProperties(request.object, this.#unknowns),
      dependsOn: sortedUnique([...request.dependencies, ...Object.values(request.propertyDependencies).flat()]),
      propertyDependencies: Object.fromEntries(
        Object.entries(request.propertyDependencies)
          .filter(([, urns]) => urns.length > 0)
          .map(([property, urns]) => [property, sortedUnique(urns)]),
      ),
      protect: request.protect ?? parent?.protect ?? false,
      retainOnDelete: request.retainOnDelete ?? parent?.retainOnDelete ?? false,
      deleteBeforeReplace: request.deleteBeforeReplace,
      ignoreChanges: [...request.ignoreChanges],
      replaceOnChanges: [...request.replaceOnChanges],
      secretOutputs: [...request.secretOutputs],
      aliases: sortedUnique(request.aliases.map(engineForm).filter((alias) => alias !== urn)),
      ...(deletedWith ? { deletedWith } : {}),
      ...(request.importId === "" ? {} : { importId: request.importId }),
      timeouts: request.timeouts,
      ...(request.version === "" ? {} : { version: request.version }),
    });
    if (request.kind === "component") return { urn, id: "", object: {} };
    if (create === undefined) return { urn, ...this.#dryRun(request) };
    const created = create({ type: request.type, name: request.name, urn, inputs: request.object });
    return {
      urn,
      id: request.kind === "remote" ? "" : created.id,
      object: { ...request.object, ...created.outputs },
    };
  }

  /** Records the lookup of a resource of another program. Its outputs are unknown in a dry run. */
  read(request: ReadRequest): { urn: string; object: Wire } {
    const { project, stack, create } = this.#options;
    const urn = urnOf(project, stack, request.type, request.name, request.parent === "" ? undefined : request.parent);
    this.#add({
      urn,
      type: request.type,
      name: request.name,
      ...(request.parent === "" ? {} : { parent: request.parent }),
      kind: "read",
      id: this.#unknowns.has(request.id) ? "<computed>" : request.id,
      ...(request.provider === "" ? {} : { provider: providerUrn(request.provider) }),
      inputs: decodeProperties(request.object, this.#unknowns),
      dependsOn: sortedUnique(request.dependencies),
      ...noOptions,
      ...(request.version === "" ? {} : { version: request.version }),
    });
    if (create !== undefined) {
      const { outputs } = create({ type: request.type, name: request.name, urn, inputs: request.object });
      return { urn, object: { ...request.object, ...outputs } };
    }
    const isStackReference = request.type === "pulumi:pulumi:StackReference";
    return { urn, object: isStackReference ? { ...request.object, outputs: unknownMarker } : request.object };
  }

  /** Records the outputs of a component or the stack. */
  registerOutputs(urn: string, outputs: Wire): void {
    const resource = this.#resources.get(urn);
    if (resource === undefined) throw new Refusal(`outputs of an unregistered resource: ${urn}`);
    this.#resources.set(urn, { ...resource, outputs: decodeProperties(outputs, this.#unknowns) });
  }

  /**
   * Returns the result of a provider function.
   *
   * @throws Refusal for an unknown function.
   */
  invoke(token: string, args: Wire, provider: string): Wire {
    const { project, stack, answer } = this.#options;
    const decoded = decodeProperties(args, this.#unknowns);
    const asked = this.#resources.get(providerUrn(provider))?.inputs ?? {};
    const reply = answer(token, decoded, { project, stack, provider: asked });
    if (reply === undefined)
      throw new Refusal(
        `the offline plan has no sample result for the function "${token}": ` +
          "add one to infra/offline-plan/answers.ts, or derive the value from the stack's configuration",
      );
    this.#invocations.push({ token, args: decoded });
    return reply;
  }

  #dryRun({ type, name, kind, object }: Registration): { id: string; object: Wire } {
    if (kind === "remote") return { id: "", object: {} };
    const known = echoed(type, object);
    if (!this.#options.placeholders || type.startsWith("pulumi:")) return { id: "", object: known };
    const { id, outputs } = placeholders(type, name);
    for (const text of [id, ...Object.values(outputs)]) this.#unknowns.add(text);
    return { id, object: { ...outputs, ...known } };
  }

  #add(resource: PlannedResource): void {
    if (this.#resources.has(resource.urn))
      throw new Refusal(`duplicate resource URN "${resource.urn}": give the resource another name or another parent`);
    this.#resources.set(resource.urn, resource);
  }
}
