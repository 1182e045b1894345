import { overlaps, parseCidr } from "../../model/cidr.ts";

/** AWS services that nodes without a way to the internet reach through interface endpoints. */
export const interfaceEndpointServices = [
  "autoscaling",
  "ec2",
  "ecr.api",
  "ecr.dkr",
  "eks",
  "elasticloadbalancing",
  "kms",
  "logs",
  "sts",
] as const;

/** The two ranges that EKS itself chooses from for Services: the first that the VPC does not overlap. */
export function serviceCidr(vpcCidr: string): string {
  const candidates = ["172.20.0.0/16", "10.100.0.0/16"];
  const vpc = parseCidr(vpcCidr);
  const free = candidates.find((candidate) => {
    const network = parseCidr(candidate);
    return vpc === undefined || network === undefined || !overlaps(vpc, network);
  });
  return free ?? "172.20.0.0/16";
}

/** Which zone's gateway a zone's private subnet goes out through; undefined without NAT. */
export function natZone(nat: "none" | "single" | "zone", zone: string, zones: readonly string[]): string | undefined {
  switch (nat) {
    case "none":
      return undefined;
    case "single":
      return zones[0];
    case "zone":
      return zone;
  }
}
