/** The order of creation and deletion that the engine derives from a capture. */

import type { PlannedResource } from "../../../infra/offline-plan/capture.ts";

export class DependencyGraph {
  readonly #edges: ReadonlyMap<string, readonly string[]>;
  readonly #reach = new Map<string, ReadonlySet<string>>();

  /** A resource waits for its dependencies, its parent and its provider, and is deleted before all of them. */
  constructor(resources: readonly PlannedResource[]) {
    this.#edges = new Map(
      resources.map(({ urn, dependsOn, parent, provider }) => [
        urn,
        [...dependsOn, ...(parent === undefined ? [] : [parent]), ...(provider === undefined ? [] : [provider])],
      ]),
    );
  }

  /** Everything that must exist before, and that is deleted after, the resource. */
  before(urn: string): ReadonlySet<string> {
    const known = this.#reach.get(urn);
    if (known !== undefined) return known;
    const found = new Set<string>();
    const open = [urn];
    for (let next = open.pop(); next !== undefined; next = open.pop())
      for (const edge of this.#edges.get(next) ?? [])
        if (!found.has(edge)) {
          found.add(edge);
          open.push(edge);
        }
    this.#reach.set(urn, found);
    return found;
  }

  /** One sentence for each pair that is not in that order: every `later` waits for every `earlier`. */
  violations(later: readonly PlannedResource[], earlier: readonly PlannedResource[]): string[] {
    return later.flatMap((resource) =>
      earlier.flatMap((needed) =>
        resource.urn === needed.urn || this.before(resource.urn).has(needed.urn)
          ? []
          : [`${describe(resource)} does not depend on ${describe(needed)}`],
      ),
    );
  }
}

export const describe = ({ type, name }: PlannedResource): string => `${type} ${name}`;

/** The resources of one of the types. */
export const ofType = (resources: readonly PlannedResource[], ...types: string[]): PlannedResource[] =>
  resources.filter(({ type }) => types.includes(type));
