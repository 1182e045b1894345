import type { ServiceProcess } from "../support/service-process.ts";
import { refusalFault } from "./load.ts";

/** Records the service's responses for each tag, to compare them with the tags once the store works again. */
export class Ledger {
  readonly #service: ServiceProcess;
  readonly #prefix: string;
  /** Expected state of each tag; `open` after a refusal, which leaves it undefined. */
  readonly #promised = new Map<string, "there" | "gone" | "open">();
  readonly #wrong: string[] = [];
  #refused = 0;

  constructor(service: ServiceProcess, prefix: string) {
    this.#service = service;
    this.#prefix = prefix;
  }

  get refused(): number {
    return this.#refused;
  }

  get size(): number {
    return this.#promised.size;
  }

  static versionOf(index: number): number {
    return 1 + (index % 10);
  }

  /** Creates a unique tag; deletes every third. */
  async work(): Promise<void> {
    const index = this.#promised.size;
    const tag = `${this.#prefix}-${index}`;
    this.#promised.set(tag, "open");
    const made = await this.#call("create", { tag, version: Ledger.versionOf(index) });
    if (made) this.#promised.set(tag, "there");
    if (!made || index % 3 !== 0) return;
    this.#promised.set(tag, "open");
    if (await this.#call("delete", { tag })) this.#promised.set(tag, "gone");
  }

  /** @returns tags whose state differs from the responses. */
  async check(): Promise<readonly string[]> {
    const tags = [...this.#promised];
    const faults = await Promise.all(
      tags.map(async ([tag, promise], index) => {
        const { status, body } = await this.#service.call("tags/version", "plain", { tag });
        const there = status === 200 && body.version === Ledger.versionOf(index);
        const gone = status === 404 && body.code === 8;
        const kept = promise === "there" ? there : promise === "gone" ? gone : there || gone;
        return kept ? [] : [`${tag} is promised to be ${promise}: ${status} ${JSON.stringify(body)}`];
      }),
    );
    return [...this.#wrong, ...faults.flat()];
  }

  /** @returns whether it was done; undefined after a valid refusal. */
  async #call(operation: string, body: object): Promise<boolean> {
    const answer = await this.#service.call(`tags/${operation}`, "plain", body);
    if (answer.status === 200) return true;
    this.#refused++;
    const wrong = refusalFault(answer);
    if (wrong !== undefined) this.#wrong.push(`tags/${operation} ${JSON.stringify(body)}: ${wrong}`);
    return false;
  }
}
