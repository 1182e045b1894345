import type * as kubernetes from "@pulumi/kubernetes";

type Pod = kubernetes.types.input.core.v1.PodSecurityContext;
type Container = kubernetes.types.input.core.v1.SecurityContext;

/** User and group 1000, which the Node images use (`node`). */
export const unprivilegedUser = 1000;

/** The pod's part of the `restricted` Pod Security Standard. */
export const restrictedPod: Pod = {
  runAsNonRoot: true,
  runAsUser: unprivilegedUser,
  runAsGroup: unprivilegedUser,
  fsGroup: unprivilegedUser,
  seccompProfile: { type: "RuntimeDefault" },
};

/** The container's part, and a read-only root file system. */
export const restrictedContainer: Container = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};
