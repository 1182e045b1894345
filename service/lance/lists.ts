import type { Connection } from "@lancedb/lancedb";
import { classifyAccess } from "./classify.ts";

/** Names of tables or namespaces, in the order of their characters' codes. */
export type Names = readonly string[];

const sorted = (names: readonly string[]): Names => [...names].sort((left, right) => (left < right ? -1 : 1));

/** The SDK lists nothing in a namespace that does not exist: whether it does is asked at the same time. */
const within = async <T>(connection: Connection, namespace: readonly string[], list: () => Promise<T>): Promise<T> => {
  try {
    const [result] = await Promise.all([list(), connection.describeNamespace([...namespace])]);
    return result;
  } catch (error) {
    throw classifyAccess(error, 1);
  }
};

/**
 * The tables of a namespace itself, all at once: the SDK's pages of the root begin again with the table that ended the
 * page before.
 * @throws ServiceError code 1.
 */
export const listTables = async (connection: Connection, namespace: readonly string[]): Promise<Names> =>
  sorted((await within(connection, namespace, () => connection.listTables([...namespace]))).tables);

/** The namespaces right beneath one. @throws ServiceError code 1. */
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
