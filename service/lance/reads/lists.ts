import type { Connection } from "@lancedb/lancedb";
import { classifyAccess } from "../errors/classify.ts";

/** Names of tables or namespaces, sorted by code units. */
export type Names = readonly string[];

const sorted = (names: readonly string[]): Names => [...names].sort((left, right) => (left < right ? -1 : 1));

/** The SDK returns an empty list for a namespace that does not exist, so its existence is checked concurrently. */
const within = async <T>(connection: Connection, namespace: readonly string[], list: () => Promise<T>): Promise<T> => {
  try {
    // The root exists if the connection does.
    if (namespace.length === 0) return await list();
    const [result] = await Promise.all([list(), connection.describeNamespace([...namespace])]);
    return result;
  } catch (error) {
    throw classifyAccess(error, 1);
  }
};

/**
 * All tables of a namespace, without those of its child namespaces. The SDK's pagination is not used, because a page of
 * the root repeats the last table of the previous page.
 * @throws ServiceError code 1.
 */
export const listTables = async (connection: Connection, namespace: readonly string[]): Promise<Names> =>
  sorted((await within(connection, namespace, () => connection.listTables([...namespace]))).tables);

/** The direct child namespaces of a namespace. @throws ServiceError code 1. */
export const listNamespaces = async (connection: Connection, namespace: readonly string[]): Promise<Names> =>
  sorted((await within(connection, namespace, () => connection.listNamespaces([...namespace]))).namespaces);

/** @returns the properties of a namespace. @throws ServiceError code 1. */
export const describeNamespace = async (
  connection: Connection,
  namespace: readonly string[],
): Promise<Readonly<Record<string, string>>> => {
  try {
    return (await connection.describeNamespace([...namespace])).properties ?? {};
  } catch (error) {
    throw classifyAccess(error, 1);
  }
};
