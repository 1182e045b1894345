/** The table service's Kubernetes service account. Each cloud binds an identity to it. */
export const tableServiceAccount = "table-service";
/** The service account of the maintenance of the tables. Each cloud binds an identity to it. */
export const maintenanceAccount = "maintenance";
/** Label and name of the pods that hand Functions to Ray, with the identity of Ray's own pods. */
export const functionsRunner = "functions-runner";
/** The service account of the cleanup of orphaned RayClusters. */
export const orphanCleanupAccount = "orphan-cleanup";
