import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { cachePath } from "../../../tools/parts/cache.ts";
import { goModule } from "../../../tools/parts/control-plane/go.ts";
import { kuberayCrds } from "../../../tools/parts/control-plane/table.ts";
import { kuberayCrdBase, operatorVersion } from "./crds.ts";

const rbac = ["role", "role_binding", "service_account", "leader_election_role", "leader_election_role_binding"];

/** Values of the release in place of what the manifest says, by the path in the Deployment's pod template. */
const released = {
  image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}",
  resources: "{{ toJson .Values.resources }}",
  nodeSelector: "{{ toJson .Values.nodeSelector }}",
  securityContext: "{{ toJson .Values.podSecurityContext }}",
} as const;

/**
 * A Helm chart of KubeRay's own manifests, which are in the operator's Go module, as its released chart is not: permissions,
 * probes and command are KubeRay's, and what the stack's values say stands in place of the manifest's.
 * @returns what the stack's `operator` needs to install it
 */
export async function operatorChart(): Promise<object> {
  const chart = cachePath("nodes", `kuberay-operator-chart-${operatorVersion}`);
  const operator = {
    mode: "helm",
    version: operatorVersion,
    chart: { repository: "", name: chart },
    crds: await kuberayCrdBase(),
  };
  if (existsSync(join(chart, "templates", "manager.yaml"))) return operator;
  const module = await goModule(kuberayCrds.module, `v${operatorVersion}`);
  const manifest = async (...path: string[]) =>
    parse(await readFile(join(module, "config", ...path), "utf8")) as Record<string, never>;
  await mkdir(join(chart, "templates"), { recursive: true });
  await writeFile(
    join(chart, "Chart.yaml"),
    stringify({ apiVersion: "v1", name: "kuberay-operator", version: operatorVersion }),
  );
  const write = async (name: string, object: object) => {
    // A value that Helm renders as JSON stands without quotes.
    const text = stringify(object, { lineWidth: 0 }).replaceAll(/"?(\{\{ toJson [^}]+\}\})"?/g, "$1");
    await writeFile(join(chart, "templates", `${name}.yaml`), text);
  };
  const namespace = "{{ .Release.Namespace }}";
  for (const name of rbac) {
    const object: Record<string, unknown> = await manifest("rbac", `${name}.yaml`);
    const metadata = { ...(object.metadata as object), namespace };
    const subjects = (object.subjects as object[] | undefined)?.map((subject) => ({ ...subject, namespace }));
    await write(name, { ...object, metadata, ...(subjects === undefined ? {} : { subjects }) });
  }
  const { spec, ...deployment } = (await manifest("manager", "manager.yaml")) as unknown as {
    metadata: object;
    spec: { template: { spec: { containers: object[] } } };
  };
  const pod = spec.template.spec;
  const { image, resources, nodeSelector, securityContext } = released;
  const containers = pod.containers.map((container) => ({ ...container, image, resources }));
  const template = { ...spec.template, spec: { ...pod, nodeSelector, securityContext, containers } };
  await write("manager", {
    ...deployment,
    metadata: { ...deployment.metadata, namespace },
    spec: { ...spec, template },
  });
  return operator;
}
