import { z } from "zod";

/** Query parameters of every list. */
export const pageParameters = z.object({
  page_token: z.string().optional().describe("The `page_token` of the previous page; absent or empty for the first"),
  limit: z.coerce
    .number({ error: "must be a whole number, 1 or greater" })
    .int({ error: "must be a whole number, 1 or greater" })
    .min(1, { error: "must be 1 or greater" })
    .optional()
    .describe("Maximum entries of the page; absent for all"),
});

export type PageParameters = z.output<typeof pageParameters>;

/** Absent on the last page. */
export const pageToken = z.string().optional().describe("Name of the last entry; send it for the next page");

export interface Page<T> {
  readonly entries: readonly T[];
  readonly token: { readonly page_token?: string };
}

/**
 * One page of a list. The token is the name of the previous page's last entry, so that entries which are added or removed
 * between two pages do not shift the others.
 * @param entries in the order of `isAfter`.
 * @param fits whether an entry of the rest is still on the page.
 */
export const pageOf = <T>(
  entries: readonly T[],
  { page_token: token, limit }: PageParameters,
  nameOf: (entry: T) => string,
  isAfter: (name: string, token: string) => boolean = (name, token) => name > token,
  fits: (entry: T, at: number) => boolean = () => true,
): Page<T> => {
  const rest = token === undefined || token === "" ? entries : entries.filter((entry) => isAfter(nameOf(entry), token));
  const beyond = rest.findIndex((entry, at) => at === limit || !fits(entry, at));
  const page = beyond === -1 ? rest : rest.slice(0, beyond);
  const last = page.at(-1);
  return { entries: page, token: page.length < rest.length && last !== undefined ? { page_token: nameOf(last) } : {} };
};

/** One page of a list of names. */
export const pageOfNames = (names: readonly string[], parameters: PageParameters): Page<string> =>
  pageOf(names, parameters, (name) => name);
