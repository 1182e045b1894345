/** The table service's Kubernetes service account. Each cloud binds an identity to it. */
export const tableServiceAccount = "table-service";
/** The service account of the cleanup of orphaned RayClusters. */
export const orphanCleanupAccount = "orphan-cleanup";
