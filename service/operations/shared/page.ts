import { z } from "zod";

/** The parameters of every list, as text in the query string. */
export const pageParameters = z.object({
  page_token: z.string().optional().describe("The `page_token` of the page before; absent or empty for the first"),
  limit: z.coerce
    .number({ error: "must be a whole number, 1 or greater" })
    .int({ error: "must be a whole number, 1 or greater" })
    .min(1, { error: "must be 1 or greater" })
    .optional()
    .describe("Entries of a page at the most; absent for all"),
});

export type PageParameters = z.output<typeof pageParameters>;

/** What ends a page: absent on the last one. */
export const pageToken = z.string().optional().describe("The last entry; send it for the next page");

export interface Page<T> {
  readonly entries: readonly T[];
  readonly token: { readonly page_token?: string };
}

/**
 * One page of a list. A token is the name of the last entry before, so that entries which come or go between two pages
 * move no other.
 * @param entries in the order in which `isAfter` holds.
 */
export const pageOf = <T>(
  entries: readonly T[],
  { page_token: token, limit }: PageParameters,
  nameOf: (entry: T) => string,
  isAfter: (name: string, token: string) => boolean = (name, token) => name > token,
): Page<T> => {
  const rest = token === undefined || token === "" ? entries : entries.filter((entry) => isAfter(nameOf(entry), token));
  const page = limit === undefined ? rest : rest.slice(0, limit);
  const last = page.at(-1);
  return { entries: page, token: page.length < rest.length && last !== undefined ? { page_token: nameOf(last) } : {} };
};

/** One page of a list of names. */
export const pageOfNames = (names: readonly string[], parameters: PageParameters): Page<string> =>
  pageOf(names, parameters, (name) => name);
