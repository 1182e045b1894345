import type { VerificationFacts } from "../cloud.ts";
import type { ExistingConfig } from "./schema.ts";

export const verification = ({ kubeconfigPath, context }: ExistingConfig): VerificationFacts => ({
  ownKubeconfig: { path: kubeconfigPath, context },
  ownsNodes: false,
  identityOutput: undefined,
  clientSubject: () => undefined,
  gpuRemedy:
    "the device plugin is missing or fails: kubectl -n kube-system get pods -l app.kubernetes.io/name=nvidia-device-plugin",
  ownNamespaces: undefined,
});
