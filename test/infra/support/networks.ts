/** Networks for property tests. */

import fc from "fast-check";
import { type Network, parseCidr, size } from "../../../infra/model/cidr.ts";

/** Any network whose prefix length is between the two. */
export const network = (lengths: { min: number; max: number }) =>
  fc.tuple(fc.integer(lengths), fc.integer({ min: 0, max: 2 ** 32 - 1 })).map(([length, address]): Network => {
    return { base: address - (address % size(length)), length };
  });

export const contains = (outer: Network, inner: Network): boolean =>
  inner.base >= outer.base && inner.base + size(inner.length) <= outer.base + size(outer.length);

/** @throws Error when the text is no network */
export function parsed(text: string): Network {
  const found = parseCidr(text);
  if (found === undefined) throw new Error(`${text} is no network`);
  return found;
}
