import type * as kubernetes from "@pulumi/kubernetes";

type Pod = kubernetes.types.input.core.v1.PodSecurityContext;
type Container = kubernetes.types.input.core.v1.SecurityContext;

/** User and group 1000, as which the Node images run (`node`). */
export const unprivilegedUser = 1000;

/** Both halves of what the `restricted` Pod Security Standard asks for, with a read-only root file system besides. */
export const restrictedPod: Pod = {
  runAsNonRoot: true,
  runAsUser: unprivilegedUser,
  runAsGroup: unprivilegedUser,
  fsGroup: unprivilegedUser,
  seccompProfile: { type: "RuntimeDefault" },
};

export const restrictedContainer: Container = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};
