/** Who the processes in Ray's pods are, and what they may do, as the `restricted` Pod Security Standard asks. */
export interface PodSecurity {
  readonly runAsNonRoot: true;
  readonly runAsUser: number;
  readonly seccompProfile: { readonly type: "RuntimeDefault" };
}

export interface ContainerSecurity extends PodSecurity {
  readonly allowPrivilegeEscalation: false;
  readonly capabilities: { readonly drop: readonly ["ALL"] };
}

export const podSecurity: PodSecurity = {
  runAsNonRoot: true,
  // The user `ray` of the images rayproject/ray.
  runAsUser: 1000,
  seccompProfile: { type: "RuntimeDefault" },
};

export const containerSecurity: ContainerSecurity = {
  ...podSecurity,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
};
