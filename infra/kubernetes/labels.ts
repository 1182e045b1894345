/** The label of everything that this program creates; the cleanup job reads it. */
export const managedBy = { "app.kubernetes.io/managed-by": "lakehead" } as const;

/** The recommended Kubernetes labels of one component. Selectors match `name`. */
export function componentLabels(name: string, instance?: string): Record<string, string> {
  return {
    "app.kubernetes.io/name": name,
    ...(instance === undefined ? {} : { "app.kubernetes.io/instance": instance }),
    "app.kubernetes.io/part-of": "lakehead",
    ...managedBy,
  };
}
