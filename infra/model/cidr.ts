/** IPv4 networks as plain numbers. Addresses are unsigned 32-bit integers. */

export interface Network {
  readonly base: number;
  readonly length: number;
}

/** Parses `a.b.c.d/n`; undefined for other text and for a network with host bits set. */
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

/** The names of each overlapping pair; text that is no network is ignored. */
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
