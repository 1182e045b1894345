import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";

/**
 * Writes a Helm chart with the operator's Deployment and the values that the program sets, because KubeRay's own chart is on
 * a server. Its pods are simulated; the operator itself runs beside the cluster.
 * @returns the chart's folder
 */
export async function writeOperatorChart(folder: string, version: string): Promise<string> {
  const chart = join(folder, "kuberay-operator");
  await mkdir(join(chart, "templates"), { recursive: true });
  await writeFile(join(chart, "Chart.yaml"), stringify({ apiVersion: "v2", name: "kuberay-operator", version }));
  await writeFile(join(chart, "templates", "deployment.yaml"), template);
  return chart;
}

const template = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: kuberay-operator
  namespace: {{ .Release.Namespace }}
spec:
  selector: { matchLabels: { app.kubernetes.io/name: kuberay-operator } }
  template:
    metadata: { labels: { app.kubernetes.io/name: kuberay-operator } }
    spec:
      automountServiceAccountToken: false
      nodeSelector: {{ toJson .Values.nodeSelector }}
      securityContext: {{ toJson .Values.podSecurityContext }}
      containers:
        - name: kuberay-operator
          image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
          resources: {{ toJson .Values.resources }}
          securityContext:
            allowPrivilegeEscalation: false
            capabilities: { drop: [ALL] }
`;
