import type { VerificationFacts } from "../cloud.ts";

export const verification = (): VerificationFacts => ({
  ownKubeconfig: undefined,
  ownsNodes: true,
  identityOutput: "runtimeServiceAccount",
  clientSubject: ({ clientServiceAccount }) =>
    typeof clientServiceAccount === "string"
      ? { user: clientServiceAccount, groups: ["system:authenticated"] }
      : undefined,
  gpuRemedy: "GKE installs the driver: kubectl -n kube-system get pods -l k8s-app=nvidia-gpu-device-plugin",
  ownNamespaces: /^(kube-system|gmp-.+|gke-.+)$/,
});
