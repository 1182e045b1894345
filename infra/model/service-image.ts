import { type ClusterModel, roleArchitecture } from "./cluster.ts";
import { systemRole } from "./roles.ts";

/** Whether the stack builds the table service's image. The checks refuse a missing image where it cannot. */
export const buildsServiceImage = ({
  tableService,
}: {
  readonly tableService: { readonly enabled: boolean; readonly image?: string | undefined };
}): boolean => tableService.enabled && tableService.image === undefined;

/** The platform of the nodes that run the table service, as Docker names it. */
export const servicePlatform = (cluster: ClusterModel): "linux/amd64" | "linux/arm64" =>
  roleArchitecture(cluster, systemRole) === "arm64" ? "linux/arm64" : "linux/amd64";

/** Images that a registry keeps: the newest, of which the last one runs. Each can be built again. */
export const keptServiceImages = 50;
