/** Name of the table service's Deployment and its objects, and the label by which policies and monitors select its pods. */
export const tableServiceName = "table-service";
export const tableServiceSelector = { "app.kubernetes.io/name": tableServiceName } as const;
/** The table service's Kubernetes service account. Each cloud binds an identity to it. */
export const tableServiceAccount = "table-service";
/** The service account of the maintenance of the tables. Each cloud binds an identity to it. */
export const maintenanceAccount = "maintenance";
/**
 * Label and name of the pods that hand Functions to Ray, and, beside a RayCluster for Functions alone, their service account, to
 * which each cloud binds an identity.
 */
export const functionsRunner = "functions-runner";
/** The service account of the cleanup of orphaned RayClusters. */
export const orphanCleanupAccount = "orphan-cleanup";
/** The RayCluster that runs Functions alone, and the service account of its workers. Each cloud binds an identity to it. */
export const functionsCluster = "functions";
/** The service account of that RayCluster's head, which reaches no table. */
export const functionsHeadAccount = "functions-head";
/** The service account of the Prometheus that a stack runs. A cloud with a store of metrics binds an identity to it. */
export const prometheusAccount = "prometheus";
/** Labels of the pods of a job, by which its costs are found. */
export const jobLabels = {
  stack: "lakehead/stack",
  owner: "lakehead/owner",
  job: "lakehead/job",
  table: "lakehead/table",
} as const;
/** The label of a pod's RayCluster, by KubeRay. */
export const rayClusterLabel = "ray.io/cluster";
/** Labels of pods that the metrics of Kubernetes carry. */
export const jobPodLabels: readonly string[] = [...Object.values(jobLabels), rayClusterLabel];
/** The label of a node's machine type, by Kubernetes. */
export const machineLabel = "node.kubernetes.io/instance-type";
/** The labels of nodes on spot capacity: by EKS, and by GKE. */
export const spotLabels: readonly (readonly [label: string, value: string])[] = [
  ["eks.amazonaws.com/capacityType", "SPOT"],
  ["cloud.google.com/gke-spot", "true"],
];
/** Labels of nodes that the metrics of Kubernetes carry: they decide what a pod costs. */
export const pricedNodeLabels: readonly string[] = [machineLabel, ...spotLabels.map(([label]) => label)];
/** kube-state-metrics' setting for both. */
export const metricLabels: readonly string[] = [
  `pods=[${jobPodLabels.join(",")}]`,
  `nodes=[${pricedNodeLabels.join(",")}]`,
];
