/** Labels by which people, policies and the clean-up job recognise what this program made. */
export const managedBy = { "app.kubernetes.io/managed-by": "lakehead" } as const;

/** The recommended Kubernetes labels of one component. `name` is also what selectors match. */
export function componentLabels(name: string, instance?: string): Record<string, string> {
  return {
    "app.kubernetes.io/name": name,
    ...(instance === undefined ? {} : { "app.kubernetes.io/instance": instance }),
    "app.kubernetes.io/part-of": "lakehead",
    ...managedBy,
  };
}
