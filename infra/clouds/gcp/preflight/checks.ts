/** What a Google Cloud project must have before the first `up`. Pure: the facts are the documented responses. */

import { type Line, type Outcome, ok, unknown, wrong } from "../../../check-line.ts";
import type { ClusterModel } from "../../../model/cluster.ts";
import type { ManagedZone } from "../exposure/managed-zone.ts";
import { requiredServices } from "../required-services.ts";
import type { GcpConfig } from "../schema.ts";

/** One permission of each role that the deployer needs (docs/deploy-gcp.md). */
export const requiredPermissions = [
  "compute.networks.create",
  "compute.firewalls.create",
  "container.clusters.create",
  "iam.serviceAccounts.actAs",
  "iam.serviceAccounts.create",
  "resourcemanager.projects.setIamPolicy",
  "serviceusage.services.enable",
  "storage.buckets.create",
] as const;

/** Response of cloudresourcemanager.projects.testIamPermissions. */
export interface TestedPermissions {
  readonly permissions?: readonly string[];
}

export function checkPermissions({ project }: GcpConfig, tested: Outcome<TestedPermissions>): Line {
  if ("failure" in tested)
    return unknown(
      `permissions on ${project}: not checked (${tested.failure})`,
      `gcloud projects get-iam-policy ${project}`,
    );
  const granted = new Set(tested.value.permissions);
  const missing = requiredPermissions.filter((permission) => !granted.has(permission));
  return missing.length === 0
    ? ok(`permissions on ${project}: one of each role of the deployer is granted`)
    : wrong(
        `permissions on ${project}: the caller lacks ${missing.join(", ")}`,
        "grant the roles of the deployer in docs/deploy-gcp.md, or use its credentials",
      );
}

/** Response of serviceusage.services.batchGet. */
export interface ServiceStates {
  readonly services?: readonly { readonly name?: string; readonly state?: string }[];
}

/** The stack enables its APIs itself, for which Resource Manager must be enabled, and the Service Usage API that is asked. */
export function checkServices({ project }: GcpConfig, states: Outcome<ServiceStates>): Line {
  const enable = (services: string) => `gcloud services enable ${services} --project ${project}`;
  if ("failure" in states) {
    const text = `APIs of ${project}: not checked (${states.failure})`;
    return /SERVICE_DISABLED/.test(states.failure)
      ? wrong(text, enable("serviceusage.googleapis.com"))
      : unknown(text, `gcloud services list --enabled --project ${project}`);
  }
  const enabled = new Set(
    states.value.services?.flatMap(({ name, state }) => (state === "ENABLED" ? [name?.split("/").at(-1)] : [])),
  );
  const missing = requiredServices.filter((service) => !enabled.has(service));
  if (missing.includes("cloudresourcemanager.googleapis.com"))
    return wrong(
      `APIs of ${project}: cloudresourcemanager.googleapis.com is disabled`,
      enable("cloudresourcemanager.googleapis.com"),
    );
  return ok(
    missing.length === 0
      ? `APIs of ${project}: all are enabled`
      : `APIs of ${project}: pulumi up enables ${missing.join(", ")}`,
  );
}

/** The service accounts of `client.members`. */
export const memberAccounts = ({ client }: GcpConfig): string[] =>
  client.members.flatMap((member) => /^serviceAccount:(\S+@\S+)$/.exec(member)?.[1] ?? []);

/** Google refuses a grant to a service account that does not exist. */
export function checkMember(email: string, found: Outcome<unknown>): Line {
  const byHand = `gcloud iam service-accounts describe ${email}`;
  if ("value" in found) return ok(`client.members: the service account ${email} exists`);
  return /^status 404/.test(found.failure)
    ? wrong(
        `client.members: the service account ${email} does not exist`,
        "create it, or remove it from lakehead:client.members",
      )
    : unknown(`client.members: the service account ${email} is not checked (${found.failure})`, byHand);
}

/** Response of dns.managedZones.get. */
export interface FoundZone {
  /** With a dot at its end. */
  readonly dnsName?: string;
  readonly visibility?: string;
}

/** The zone of the host's record, which `pulumi up` makes. */
export function checkZone(host: string, { project, name }: ManagedZone, found: Outcome<FoundZone>): Line {
  const text = `zone ${name} of ${project}`;
  const byHand = `gcloud dns managed-zones describe ${name} --project ${project}`;
  if ("failure" in found)
    return /^status 404/.test(found.failure)
      ? wrong(`${text}: it does not exist`, "correct lakehead:tableService.exposure.zone, or create the zone")
      : unknown(`${text}: not checked (${found.failure})`, byHand);
  const { dnsName = "", visibility } = found.value;
  if (visibility === "private")
    return wrong(
      `${text}: it is private, and Google validates the certificate from the internet`,
      "name a public zone",
    );
  return `.${host}.`.endsWith(`.${dnsName}`)
    ? ok(`${text}: pulumi up points ${host} at the load balancer`)
    : wrong(`${text}: it is for ${dnsName}, not for ${host}`, "name the zone of the host");
}

/** `zones` of compute.regions.get: URLs of the region's zones. */
export function checkZones({ region }: GcpConfig, { pools }: ClusterModel, zones: Outcome<readonly string[]>): Line {
  if ("failure" in zones) return unknown(`zones: not checked (${zones.failure})`, "gcloud compute zones list");
  const names = zones.value.map((url) => url.split("/").at(-1) ?? "");
  const missing = [...new Set(pools.flatMap((pool) => pool.zones ?? []))].filter((zone) => !names.includes(zone));
  return missing.length === 0
    ? ok(`zones: ${region} has ${names.join(", ")}`)
    : wrong(
        `zones: ${region} does not have ${missing.join(", ")}`,
        `write zones of ${names.join(", ")} in lakehead:nodes.*.zones`,
      );
}

/** Response of compute.subnetworks.get. */
export interface FoundSubnetwork {
  readonly network?: string;
  readonly privateIpGoogleAccess?: boolean;
  readonly secondaryIpRanges?: readonly { readonly rangeName?: string }[];
}

/** Response of compute.routers.list. */
export interface FoundRouters {
  readonly items?: readonly { readonly network?: string; readonly nats?: readonly unknown[] }[];
}

type AdoptedNetwork = Extract<GcpConfig["network"], { mode: "adopt" }>;

/** The last part of a self link, or the name itself. */
export const nameOf = (link: string): string => link.split("/").at(-1) ?? "";

/** Whether an adopted network is what GKE's private nodes need. */
export function checkAdoptedNetwork(
  { project, region }: GcpConfig,
  network: AdoptedNetwork,
  found: Outcome<FoundSubnetwork>,
  routers: Outcome<FoundRouters>,
): Line[] {
  const name = nameOf(network.subnetwork);
  const describe = `gcloud compute networks subnets describe ${name} --region ${region} --project ${project}`;
  const key = "network.subnetwork";
  if ("failure" in found)
    return [
      /^status 404/.test(found.failure)
        ? wrong(`${key}: ${region} has no subnetwork ${name}`, `correct lakehead:${key}`)
        : unknown(`${key}: ${name} is not checked (${found.failure})`, describe),
    ];
  const { network: own = "", privateIpGoogleAccess, secondaryIpRanges = [] } = found.value;
  const ranges = secondaryIpRanges.map(({ rangeName = "" }) => rangeName);
  const missing = (["podRange", "serviceRange"] as const).filter((range) => !ranges.includes(network[range]));
  const router = "network.network";
  const nat = (): Line => {
    const byHand = `gcloud compute routers list --regions ${region} --project ${project}`;
    if ("failure" in routers) return unknown(`${router}: Cloud NAT is not checked (${routers.failure})`, byHand);
    const served = routers.value.items?.some(
      ({ network: link = "", nats = [] }) => nameOf(link) === nameOf(network.network) && nats.length > 0,
    );
    return served === true
      ? ok(`${router}: Cloud NAT serves ${nameOf(network.network)} in ${region}`)
      : unknown(
          `${router}: no Cloud NAT serves ${nameOf(network.network)} in ${region}: private nodes reach images and charts by mirrors, or not at all`,
          "add a router with Cloud NAT, or make sure of another way out",
        );
  };
  return [
    nameOf(own) === nameOf(network.network)
      ? ok(`${key}: ${name} is in ${nameOf(own)}`)
      : wrong(
          `${key}: ${name} is in the network ${nameOf(own)}, not in ${nameOf(network.network)}`,
          `correct lakehead:${key}`,
        ),
    privateIpGoogleAccess === true
      ? ok(`${key}: ${name} reaches Google's APIs privately`)
      : wrong(
          `${key}: Private Google Access of ${name} is off, by which private nodes reach Cloud Storage`,
          `gcloud compute networks subnets update ${name} --region ${region} --project ${project} --enable-private-ip-google-access`,
        ),
    ...missing.map((range) =>
      wrong(
        `network.${range}: ${name} has no secondary range ${network[range]}, but ${ranges.join(", ") || "none"}`,
        `correct lakehead:network.${range}`,
      ),
    ),
    nat(),
  ];
}
