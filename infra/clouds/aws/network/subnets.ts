import { formatCidr, overlaps, parseCidr, size } from "../../../model/cidr.ts";

/** AWS services that nodes without NAT reach through interface endpoints. */
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

/** The Service network: the first of the two ranges that EKS uses by default which does not overlap the VPC. */
export function serviceCidr(vpcCidr: string): string {
  const candidates = ["172.20.0.0/16", "10.100.0.0/16"];
  const vpc = parseCidr(vpcCidr);
  const free = candidates.find((candidate) => {
    const network = parseCidr(candidate);
    return vpc === undefined || network === undefined || !overlaps(vpc, network);
  });
  return free ?? "172.20.0.0/16";
}

/** The zone whose NAT gateway a zone's private subnet routes to; undefined without NAT. */
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

export interface ZoneSubnets {
  readonly zone: string;
  readonly public: string;
  readonly private: string;
}

/**
 * A public and a private subnet for each zone. The network is divided into 2^n equal parts: one private subnet for each
 * zone, as pods need the addresses, and one part that is divided again into the public subnets. A zone's subnets depend
 * only on its position, so an appended zone changes no other while n is the same (1 to 3 zones: n = 2, 4 to 7: n = 3).
 * @throws RangeError when a subnet would be smaller than EKS's minimum of /28
 */
export function layOutSubnets(network: string, zones: readonly string[]): ZoneSubnets[] {
  const parsed = parseCidr(network);
  if (parsed === undefined) throw new RangeError(`"${network}" is not an IPv4 network in CIDR form`);
  const bits = zones.length <= 3 ? 2 : 3;
  if (zones.length === 0 || zones.length > 7) throw new RangeError(`${zones.length} zones: write one to seven`);
  const privateLength = parsed.length + bits;
  const publicLength = privateLength + bits;
  if (publicLength > 28) {
    const needed = 28 - 2 * bits;
    throw new RangeError(`${network} is too small for ${zones.length} zones; write a network of /${needed} or larger`);
  }
  const publicBase = parsed.base + (2 ** bits - 1) * size(privateLength);
  return zones.map((zone, index) => ({
    zone,
    private: formatCidr({ base: parsed.base + index * size(privateLength), length: privateLength }),
    public: formatCidr({ base: publicBase + index * size(publicLength), length: publicLength }),
  }));
}
