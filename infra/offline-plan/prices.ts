/** Prices of the clouds: the rows of `prices.json`, and those of a file of the user's. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";

const item = z.string().min(1);
const usd = z.number().nonnegative();

const rowSchema = z
  .strictObject({
    cloud: z.enum(["aws", "gcp"]),
    /** `*` for a price that is the same in every region. */
    region: z.string().min(1),
    /** A machine type, with ` spot` behind it for its spot price, or a thing such as `NAT gateway`. */
    item: item.optional(),
    usd: usd.optional(),
    /** Of several items, instead of `item` and `usd`. */
    prices: z.record(item, usd).optional(),
    per: z.enum(["hour", "GiB-month"]),
    /** The day on which the source had the price, or was read. */
    date: z.string().regex(/^\d{4}-\d{2}-\d{2}$/, { error: "a date such as 2026-11-24" }),
    source: z.url(),
    note: z.string().optional(),
  })
  .refine(({ item, usd, prices }) => [item, usd].every((each) => (each === undefined) === (prices !== undefined)), {
    error: "write item and usd, or prices",
  })
  .transform(({ item = "", usd = 0, prices = { [item]: usd }, ...row }) =>
    Object.entries(prices).map(([name, price]) => ({ ...row, item: name, usd: price })),
  );
export type PriceRow = z.output<typeof rowSchema>[number];

export class PriceError extends Error {}

/** @throws PriceError that names the file, the key and what to write */
export function parsePrices(text: string, file: string): PriceRow[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new PriceError(`${file}: ${(error as Error).message}; write JSON as in infra/offline-plan/prices.json`);
  }
  const parsed = z.strictObject({ rows: z.array(rowSchema) }).safeParse(value);
  if (parsed.success) return parsed.data.rows.flat();
  const faults = parsed.error.issues.map(({ path, message }) => `${file}: ${path.join(".")}: ${message}`);
  throw new PriceError(`${faults.join("\n")}\nwrite rows as in infra/offline-plan/prices.json`);
}

/** Where a stack is. */
export interface Market {
  readonly cloud: string | undefined;
  readonly region: string;
}

/** The last row of an item wins, so that the user's come last. */
export const priceOf = (prices: readonly PriceRow[], { cloud, region }: Market, item: string): PriceRow | undefined =>
  prices.findLast((row) => row.cloud === cloud && row.item === item && [region, "*"].includes(row.region));

/** The rows of the project, and the user's after them. @throws PriceError */
export function readPrices(own: string | undefined) {
  const files = [new URL("prices.json", import.meta.url), ...(own === undefined ? [] : [resolve(own)])];
  return files.flatMap((file) => {
    const name = typeof file === "string" ? file : "prices.json";
    try {
      return parsePrices(readFileSync(file, "utf8"), name);
    } catch (error) {
      throw error instanceof PriceError ? error : new PriceError(`${name} is not read: ${(error as Error).message}`);
    }
  });
}
