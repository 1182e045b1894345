/** IPv4 networks as plain numbers. Addresses are unsigned 32-bit integers; nothing here touches a network. */

export interface Network {
  readonly base: number;
  readonly length: number;
}

/** Parses `a.b.c.d/n`; undefined when it is no network or has host bits set. */
export function parseCidr(text: string): Network | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})$/.exec(text);
  if (match === null) return undefined;
  const octets = match.slice(1, 5).map(Number);
  const length = Number(match[5]);
  if (octets.some((octet) => octet > 255) || length > 32) return undefined;
  const base = octets.reduce((sum, octet) => sum * 256 + octet, 0);
  return base % size(length) === 0 ? { base, length } : undefined;
}

/** Number of addresses in a network of that prefix length. */
export function size(length: number): number {
  return 2 ** (32 - length);
}

export function formatCidr({ base, length }: Network): string {
  const octets = [24, 16, 8, 0].map((shift) => Math.floor(base / 2 ** shift) % 256);
  return `${octets.join(".")}/${length}`;
}

export function overlaps(a: Network, b: Network): boolean {
  return a.base < b.base + size(b.length) && b.base < a.base + size(a.length);
}

/** The named networks that overlap, pair by pair; text that is no network is passed over. */
export function overlappingPairs(named: Readonly<Record<string, string>>): [string, string][] {
  const parsed = Object.entries(named).flatMap(([name, text]) => {
    const network = parseCidr(text);
    return network === undefined ? [] : [{ name, network }];
  });
  return parsed.flatMap((a, index) =>
    parsed
      .slice(index + 1)
      .flatMap((b): [string, string][] => (overlaps(a.network, b.network) ? [[a.name, b.name]] : [])),
  );
}

export interface SubnetPlan {
  readonly zone: string;
  readonly public: string;
  readonly private: string;
}

/**
 * Lays a public and a private subnet into each zone. Private subnets hold the pods, so they get the large halves:
 * the network is cut into 2^n equal parts, one for each zone and one more whose 2^n parts are the public subnets.
 * A zone's subnets depend on its position alone, so appending a zone moves none as long as n stays the same
 * (up to three zones share one layout, four to seven the next).
 * @throws RangeError when the parts would be smaller than EKS's minimum of /28.
 */
export function layOutSubnets(network: string, zones: readonly string[]): SubnetPlan[] {
  const parsed = parseCidr(network);
  if (parsed === undefined) throw new RangeError(`"${network}" is not an IPv4 network in CIDR form`);
  const bits = zones.length <= 3 ? 2 : 3;
  if (zones.length === 0 || zones.length > 7) throw new RangeError(`${zones.length} zones: give one to seven`);
  const privateLength = parsed.length + bits;
  const publicLength = privateLength + bits;
  if (publicLength > 28) {
    const needed = 28 - 2 * bits;
    throw new RangeError(`${network} is too small for ${zones.length} zones; give a network of /${needed} or larger`);
  }
  const publicBase = parsed.base + (2 ** bits - 1) * size(privateLength);
  return zones.map((zone, index) => ({
    zone,
    private: formatCidr({ base: parsed.base + index * size(privateLength), length: privateLength }),
    public: formatCidr({ base: publicBase + index * size(publicLength), length: publicLength }),
  }));
}
