/** The table service's Kubernetes service account, which the clouds' identities are bound to. */
export const tableServiceAccount = "table-service";

/** The Kubernetes group of the runtime's client on EKS, with `client.access: least-privilege`. */
export const clientGroup = "lakehead:geneva-clients";
