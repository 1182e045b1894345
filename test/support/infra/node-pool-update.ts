/** What Google's client library says of each field of GKE's `UpdateNodePoolRequest`. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);

/** The folder of an installed package, from the path of any of its files. */
const packageRoot = (entry: string, name: string): string => entry.slice(0, entry.lastIndexOf(name) + name.length);

export interface DocumentedField {
  /** As Pulumi spells it, such as `resourceLabels`. */
  readonly field: string;
  /** On one line. */
  readonly comment: string;
}

/** @throws Error when the library has no such message */
export function updateNodePoolFields(): DocumentedField[] {
  const name = "@google-cloud/container";
  const folder = packageRoot(dirname(require.resolve(name)), name);
  const proto = readFileSync(join(folder, "build/protos/google/container/v1/cluster_service.proto"), "utf8");
  const message = /^message UpdateNodePoolRequest \{\n([\s\S]*?)^\}/m.exec(proto)?.[1];
  if (message === undefined) throw new Error(`${name} has no UpdateNodePoolRequest`);
  return [...message.matchAll(/((?:^ +\/\/.*\n)+) +(?:repeated |optional )?[\w.]+ (\w+) = \d+/gm)].map(
    ([, comment = "", field = ""]) => ({
      field: field.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      comment: comment.replaceAll(/\s*\n?\s*\/\/ ?/g, " ").trim(),
    }),
  );
}
