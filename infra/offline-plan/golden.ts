/** A plan as YAML, the format of the golden files: it changes only when the infrastructure does. Pure. */

import { Document, visit } from "yaml";
import type { Plan, PlanEntry } from "./plan.ts";

function document(entry: PlanEntry): Record<string, unknown> {
  const { kind, inputs, options, dependsOn } = entry;
  // Aliases of another type come from the provider's SDK, for users of its older versions.
  const aliases = entry.aliases.filter((id) => id.split("::")[0]?.split("$").at(-1) === entry.type);
  return {
    ...(kind === "custom" ? {} : { kind }),
    ...(Object.keys(options).length > 0 ? { options } : {}),
    ...(Object.keys(inputs).length > 0 ? { inputs } : {}),
    ...(dependsOn.length > 0 ? { dependsOn } : {}),
    ...(aliases.length > 0 ? { aliases } : {}),
  };
}

/** Maps and lists of at most so many letters in JSON are written on one line. */
const shortLetters = 100;

export function renderGolden(plan: Plan): string {
  const value = {
    resources: Object.fromEntries(plan.entries.map((entry) => [entry.id, document(entry)])),
    outputs: plan.outputs,
    ...(plan.madeUp.length > 0 ? { answeredWithMadeUpData: plan.madeUp } : {}),
  };
  const golden = new Document(value, { aliasDuplicateObjects: false });
  visit(golden, {
    Collection(_, node) {
      const json = JSON.stringify(node.toJS(golden));
      if (json.length > shortLetters || json.includes("\\n")) return undefined;
      node.flow = true;
      return visit.SKIP;
    },
  });
  return golden.toString({ lineWidth: 0, flowCollectionPadding: false });
}
