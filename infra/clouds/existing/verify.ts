import type { VerificationFacts } from "../cloud.ts";

export const verification = (): VerificationFacts => ({
  ownsNodes: false,
  identityOutput: undefined,
  clientSubject: () => undefined,
  gpuRemedy:
    "the device plugin is missing or fails: kubectl -n kube-system get pods -l app.kubernetes.io/name=nvidia-device-plugin",
  ownNamespaces: undefined,
});
