/**
 * What a provider's SDK says of a resource type: its inputs, those that must be given, and what the cloud adds. Read
 * from the SDK's generated source, which is made from the provider's own schema, so that no second table can go stale.
 */

import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

export interface ResourceSchema {
  readonly inputs: ReadonlySet<string>;
  readonly required: readonly string[];
  /** Properties that only the cloud knows. */
  readonly computed: readonly string[];
}

const require = createRequire(import.meta.url);

export class Sdk {
  readonly version: string;
  readonly #root: string;
  readonly #known = new Map<string, ResourceSchema | undefined>();

  constructor(packageName: string) {
    const manifest = require.resolve(`${packageName}/package.json`);
    this.#root = dirname(manifest);
    this.version = String((JSON.parse(readFileSync(manifest, "utf8")) as { version: unknown }).version);
  }

  /** Undefined for a token that the SDK has no resource for. */
  schema(token: string): ResourceSchema | undefined {
    if (!this.#known.has(token)) this.#known.set(token, this.#read(token));
    return this.#known.get(token);
  }

  #read(token: string): ResourceSchema | undefined {
    // aws:eks/nodeGroup:NodeGroup is declared in eks/nodeGroup.js; some files have their names in another case.
    const [, module = "", name = ""] = token.split(":");
    // A package of one module has its files in its root.
    const [folder = "", file = ""] = module === "index" ? [".", name] : module.split("/");
    const wanted = `${file.toLowerCase()}.js`;
    let source: string | undefined;
    try {
      const found = readdirSync(join(this.#root, folder)).find((name) => name.toLowerCase() === wanted);
      source = found === undefined ? undefined : readFileSync(join(this.#root, folder, found), "utf8");
    } catch {
      return undefined;
    }
    if (!source?.includes(`__pulumiType = '${token}'`)) return undefined;
    const all = (pattern: RegExp): string[] => [...source.matchAll(pattern)].map(([, name = ""]) => name);
    return {
      inputs: new Set(all(/resourceInputs\["(\w+)"\] = (?:\w*\()*args\?/g)),
      required: all(/Missing required property '(\w+)'/g),
      computed: all(/resourceInputs\["(\w+)"\] = undefined \/\*out\*\//g),
    };
  }
}
