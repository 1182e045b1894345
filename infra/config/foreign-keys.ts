import { errorIf, type Finding } from "./report.ts";

/** Namespaces of Pulumi's providers, and where their settings come from instead: no resource uses a default provider. */
const providers: Readonly<Record<string, (project: string) => string>> = {
  aws: (project) => `write ${project}:region and ${project}:account, and select credentials by AWS_PROFILE`,
  gcp: (project) =>
    `write ${project}:project and ${project}:region, and log in with gcloud auth application-default login`,
  kubernetes: () => "remove it; an existing cluster is chosen by lakehead:kubeconfigPath and lakehead:context",
};

/** An error for each key of a stack that neither this program nor the engine (`pulumi:`) reads. */
export function findForeignKeys(all: Readonly<Record<string, string>>, project: string): Finding[] {
  return Object.entries(all).flatMap(([key, value]) => {
    const [namespace = "", ...rest] = key.split(":");
    if (namespace === project || namespace === "pulumi") return [];
    const provider = providers[namespace];
    return provider === undefined
      ? errorIf(true, key, value, `no program reads the namespace ${namespace}`, `write ${project}:${rest.join(":")}`)
      : errorIf(true, key, value, `the stack's ${namespace} provider does not read this key`, provider(project));
  });
}
