/** The engine's own account of an operation, as its event log holds it. Pure. */

interface StepMetadata {
  readonly op: string;
  readonly urn: string;
  readonly type: string;
  readonly diffs?: readonly string[] | null;
  readonly detailedDiff?: Readonly<Record<string, { readonly kind: string }>> | null;
}

interface EngineEvent {
  readonly timestamp: number;
  readonly resourcePreEvent?: { readonly metadata: StepMetadata };
  readonly resOutputsEvent?: { readonly metadata: StepMetadata };
  readonly resOpFailedEvent?: { readonly metadata: StepMetadata };
  readonly diagnosticEvent?: { readonly urn?: string; readonly message: string; readonly severity: string };
  readonly summaryEvent?: {
    readonly resourceChanges?: Readonly<Record<string, number>>;
    readonly durationSeconds: number;
  };
}

export interface Step {
  /** The engine's word: create, update, same, delete, create-replacement, delete-replaced, replace, read, refresh, … */
  readonly op: string;
  readonly urn: string;
  readonly type: string;
  readonly name: string;
  /** Paths of the properties that change. */
  readonly paths: readonly string[];
  readonly failed: boolean;
  /** Place in the engine's log: what begins after something else has ended has the greater one. */
  readonly at: number;
}

export interface Account {
  /** Steps in the order in which the engine began them. */
  readonly begun: readonly Step[];
  /** Steps in the order in which they ended: what a resource waited for comes before it. */
  readonly ended: readonly Step[];
  /** How many resources each operation was for: `{ create: 31, same: 2 }`. */
  readonly changes: Readonly<Record<string, number>>;
  /** Warnings and errors, without colours. */
  readonly diagnostics: readonly { readonly severity: string; readonly message: string; readonly urn: string }[];
}

/** The URN without stack and project, as the offline plan names a resource. */
export const idOf = (urn: string): string => urn.split("::").slice(2).join("::");

const step = ({ op, urn, type, diffs, detailedDiff }: StepMetadata, at: number, failed = false): Step => ({
  op,
  urn,
  type,
  name: urn.split("::").slice(3).join("::"),
  paths: detailedDiff ? Object.keys(detailedDiff).sort() : [...(diffs ?? [])].sort(),
  failed,
  at,
});

const uncoloured = (text: string): string => text.replaceAll(/<\{%[^%]*%\}>/g, "").trim();

/** Reads an event log: one JSON object a line. */
export function accountOf(log: string): Account {
  const events = log
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as EngineEvent);
  return {
    begun: events.flatMap(({ resourcePreEvent: event }, at) => (event === undefined ? [] : [step(event.metadata, at)])),
    ended: events.flatMap(({ resOutputsEvent: done, resOpFailedEvent: failed }, at) => [
      ...(done === undefined ? [] : [step(done.metadata, at)]),
      ...(failed === undefined ? [] : [step(failed.metadata, at, true)]),
    ]),
    changes: events.findLast(({ summaryEvent }) => summaryEvent !== undefined)?.summaryEvent?.resourceChanges ?? {},
    diagnostics: events.flatMap(({ diagnosticEvent: event }) =>
      event === undefined || event.severity.startsWith("info") || event.severity === "debug"
        ? []
        : [{ severity: event.severity, message: uncoloured(event.message), urn: event.urn ?? "" }],
    ),
  };
}

/** The steps that change something: all but `same`, reads and the stack's own. */
export const changing = (steps: readonly Step[]): Step[] =>
  steps.filter(({ op, type }) => !["same", "read", "refresh"].includes(op) && type !== "pulumi:pulumi:Stack");
