import { type Api, type ChangeRequest, type Committed, changeOperations, type Query } from "../api.ts";
import { formatCount } from "../format.ts";
import type { RunKind } from "../query/snippets.ts";

/** The request of a fix; undefined if it is none of those that the console sends: another server may send anything. */
export const requestOf = (table: string, write: unknown): ChangeRequest | undefined => {
  const { operation: sent, body } = (write ?? {}) as Record<string, unknown>;
  const operation = changeOperations.find((known) => known === sent);
  if (operation === undefined || typeof body !== "object" || body === null) return undefined;
  return { table, operation, body };
};

/** A run whose query can be sent again after the change. */
export interface RunBefore {
  readonly id: string;
  readonly kind: RunKind;
  readonly query: Query;
}

export interface Change {
  readonly id: string;
  readonly request: ChangeRequest;
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to?: number;
  readonly before?: RunBefore | undefined;
  readonly committed?: Committed;
  readonly error?: unknown;
}

export const isRunning = ({ to }: Change): boolean => to === undefined;

const seconds = (from: number, to: number): string => `${formatCount(Math.round((to - from) / 100) / 10)} s`;

/** The state of a change in a few words. */
export const stateText = (change: Change): string => {
  const { from, to, committed } = change;
  if (to === undefined) return "running";
  if (committed === undefined) return `failed after ${seconds(from, to)}`;
  const { version } = committed;
  return `done in ${seconds(from, to)}${version === undefined ? "" : `, version ${formatCount(version)}`}`;
};

/** The changes that this tab has sent. They go on while the reader looks at other views. */
export class Changes {
  readonly #api: Pick<Api, "change">;
  readonly #listeners = new Set<() => void>();
  #list: readonly Change[] = [];

  constructor(api: Pick<Api, "change">) {
    this.#api = api;
  }

  /** The newest first; another list after each change of it. */
  get list(): readonly Change[] {
    return this.#list;
  }

  /** @returns a function that ends the subscription. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async send(title: string, request: ChangeRequest, before?: RunBefore): Promise<void> {
    const change: Change = { id: crypto.randomUUID(), title, request, before, from: Date.now() };
    this.#set([change, ...this.#list]);
    const outcome = await this.#api.change(request).then(
      (committed) => ({ committed }),
      (error: unknown) => ({ error }),
    );
    this.#set(this.#list.map((other) => (other.id === change.id ? { ...change, ...outcome, to: Date.now() } : other)));
  }

  forget(id: string): void {
    this.#set(this.#list.filter((change) => change.id !== id));
  }

  #set(list: readonly Change[]): void {
    this.#list = list;
    for (const listener of this.#listeners) listener();
  }
}
