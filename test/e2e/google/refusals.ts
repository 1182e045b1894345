/** Requests that Google refuses, in the order in which they build on each other, and what it says of each. */

import { holds } from "../support/report.ts";
import { GoogleCloud } from "./cloud.ts";
import type { Discovery } from "./discovery.ts";

const project = "a-project";
const region = "europe-west4";
const compute = `https://compute.googleapis.com/compute/v1/projects/${project}`;
const gke = `https://container.googleapis.com/v1/projects/${project}/locations/${region}/clusters`;
const accounts = `https://iam.googleapis.com/v1/projects/${project}/serviceAccounts`;
const crm = `https://cloudresourcemanager.googleapis.com/v1/projects/${project}`;
const storage = "https://storage.googleapis.com/storage/v1/b";
const services = `https://serviceusage.googleapis.com/v1/projects/${project}/services`;
const subnetworks = `${compute}/regions/${region}/subnetworks`;
const network = `projects/${project}/global/networks/net`;

const subnetwork = (name: string, ipCidrRange: string, secondary: readonly string[] = []) => ({
  name,
  network,
  ipCidrRange,
  secondaryIpRanges: secondary.map((range, at) => ({ rangeName: ["pods", "services"][at], ipCidrRange: range })),
});
const cluster = (name: string, fields: object = {}) => ({
  cluster: {
    name,
    network,
    subnetwork: `projects/${project}/regions/${region}/subnetworks/nodes`,
    ipAllocationPolicy: { clusterSecondaryRangeName: "pods", servicesSecondaryRangeName: "services" },
    workloadIdentityConfig: { workloadPool: `${project}.svc.id.goog` },
    ...fields,
  },
});
const grant = (role: string, member: string, policy: object = {}) => ({
  policy: { bindings: [{ role, members: [member] }], ...policy },
});
const node = `serviceAccount:nodes@${project}.iam.gserviceaccount.com`;
const pod = `serviceAccount:${project}.svc.id.goog[lancedb/ray]`;
const nodeRole = "roles/container.defaultNodeServiceAccount";

/** Method, address, body, and what the answer must hold: for a success its status. */
type Step = readonly [method: string, address: string, body: object, holds: RegExp];

const steps: readonly Step[] = [
  ["POST", `${compute}/global/networks`, { name: "net" }, /^403 .*SERVICE_DISABLED/],
  [
    "POST",
    `${services}:batchEnable`,
    {
      serviceIds: ["compute", "container", "iam", "cloudresourcemanager", "storage"].map(
        (one) => `${one}.googleapis.com`,
      ),
    },
    /^200/,
  ],
  ["POST", `${compute}/global/networks`, { name: "Net" }, /^400 .*Must be a match of regex/],
  ["POST", `${compute}/global/networks`, {}, /^400 .*Required field 'name'/],
  ["POST", `${compute}/global/networks`, { name: "net", colour: "red" }, /^400 .*Unknown name \\"colour\\"/],
  [
    "POST",
    `${compute}/global/networks`,
    { name: "net", routingConfig: { routingMode: "ZONAL" } },
    /^400 .*none of its enum/,
  ],
  ["POST", `${compute}/global/networks`, { name: "net", mtu: "large" }, /^400 .*Invalid value at 'mtu'/],
  ["POST", `${compute}/global/webs`, { name: "net" }, /^404 .*documents have no/],
  ["POST", subnetworks, subnetwork("nodes", "10.0.0.0/20"), /^404 .*networks\/net' was not found/],
  ["POST", `${compute}/global/networks`, { name: "net" }, /^200/],
  ["POST", `${compute}/global/networks`, { name: "net" }, /^409 .*already exists/],
  ["POST", subnetworks, subnetwork("nodes", "10.0.0.0/20", ["10.0.8.0/24"]), /^400 .*conflicts with another range/],
  ["POST", subnetworks, subnetwork("nodes", "10.0.0.0/20", ["10.4.0.0/14", "10.3.0.0/20"]), /^200/],
  ["POST", subnetworks, subnetwork("more", "10.5.0.0/20"), /^400 .*conflicts with existing subnetwork 'nodes'/],
  ["DELETE", `${compute}/global/networks/net`, {}, /^400 .*already being used by/],
  [
    "POST",
    `${subnetworks}/nodes/expandIpCidrRange`,
    { ipCidrRange: "10.0.0.0/21" },
    /^400 .*must contain 10\.0\.0\.0\/20/,
  ],
  ["PATCH", `${subnetworks}/nodes`, { fingerprint: "b2xk", privateIpGoogleAccess: true }, /^412 /],
  ["POST", accounts, { accountId: "n" }, /^400 .*Invalid name/],
  ["POST", accounts, { accountId: "nodes1" }, /^200/],
  ["POST", `${crm}:setIamPolicy`, grant(nodeRole, node), /^400 .*does not exist/],
  [
    "POST",
    `${crm}:setIamPolicy`,
    grant("container.admin", `serviceAccount:nodes1@${project}.iam.gserviceaccount.com`),
    /^400 .*not supported/,
  ],
  ["POST", `${crm}:setIamPolicy`, grant(nodeRole, "someone@example.com"), /^400 .*unknown type/],
  ["POST", `${crm}:setIamPolicy`, grant(nodeRole, "user:someone@example.com", { etag: "b2xk" }), /^409 .*concurrent/],
  [
    "POST",
    `${accounts}/nodes1@${project}.iam.gserviceaccount.com:setIamPolicy`,
    grant("roles/iam.workloadIdentityUser", pod),
    /^400 .*Identity Pool does not exist/,
  ],
  [
    "POST",
    gke,
    cluster("lake", { ipAllocationPolicy: { clusterSecondaryRangeName: "none" } }),
    /^400 .*does not exist in the subnetwork/,
  ],
  [
    "POST",
    gke,
    cluster("lake", { privateClusterConfig: { masterIpv4CidrBlock: "10.0.0.0/28" } }),
    /^400 .*for master conflicts/,
  ],
  ["POST", gke, cluster("Lake"), /^400 .*Invalid name/],
  [
    "POST",
    gke,
    cluster("lake", { nodeConfig: { serviceAccount: `nodes1@${project}.iam.gserviceaccount.com` } }),
    /^200 .*lacks roles/,
  ],
  [
    "POST",
    gke,
    cluster("lake", { workloadIdentityConfig: { workloadPool: "other.svc.id.goog" } }),
    /^400 .*workload_pool/,
  ],
  ["POST", storage, { name: "tables" }, /^400 .*Required parameter: project/],
  ["POST", `${storage}?project=${project}`, { name: "tables", location: "EU" }, /^200/],
  ["POST", `${storage}/tables/managedFolders`, { name: "lance/" }, /^200/],
  ["DELETE", `${storage}/tables`, {}, /^409 .*already being used/],
];

/** @throws Error that lists the requests whose answers were others. @returns how many requests there were */
export async function requireRefusals(discovery: Discovery): Promise<string> {
  const cloud = new GoogleCloud(discovery, { project, region, apiServer: { host: "", ca: "" }, apiDelay: 0 });
  const wrong: string[] = [];
  for (const [method, address, body, expected] of steps) {
    const { status, body: answer } = await cloud.respond(method, new URL(address), body as Record<string, unknown>);
    const said = `${status} ${JSON.stringify(answer ?? "")}`;
    if (!expected.test(said)) wrong.push(`${method} ${address} ${JSON.stringify(body)}: ${said}, not ${expected}`);
  }
  holds(wrong.length === 0, wrong.join("\n"));
  return `${steps.length} requests`;
}
