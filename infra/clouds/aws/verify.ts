import type { VerificationFacts } from "../cloud.ts";
import type { AwsConfig } from "./schema.ts";

/** The Kubernetes group of the runtime's client, with `client.access: least-privilege`. */
export const clientGroup = "lakehead:geneva-clients";

export const verification = ({ client }: AwsConfig): VerificationFacts => ({
  ownKubeconfig: undefined,
  ownsNodes: true,
  identityOutput: "runtimeRoleArn",
  // With cluster-admin an EKS access policy grants the rights, which RBAC does not know.
  clientSubject: () =>
    client.access === "least-privilege"
      ? { user: "lakehead:verification", groups: ["system:authenticated", clientGroup] }
      : undefined,
  gpuRemedy:
    "the device plugin is missing or fails: kubectl -n kube-system get pods -l app.kubernetes.io/name=nvidia-device-plugin",
  ownNamespaces: undefined,
});
