/** A table by the last part of its id. */
export interface TableName {
  readonly id: string;
  readonly name: string;
}

export interface NamespaceGroup {
  readonly namespace: readonly string[];
  readonly tables: readonly TableName[];
}

/** The ids that contain every word of the filter, in any case. */
export const matching = (ids: readonly string[], filter: string): readonly string[] => {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return ids;
  return ids.filter((id) => {
    const text = id.toLowerCase();
    return words.every((word) => text.includes(word));
  });
};

/** The root namespace first, the others by name. @param ids joined by `$`, which no name contains. */
export const groupByNamespace = (ids: readonly string[]): readonly NamespaceGroup[] => {
  const groups = new Map<string, TableName[]>();
  for (const id of ids) {
    const at = id.lastIndexOf("$");
    const key = id.slice(0, Math.max(0, at));
    const group = groups.get(key) ?? [];
    group.push({ id, name: id.slice(at + 1) });
    groups.set(key, group);
  }
  return [...groups]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, tables]) => ({ namespace: key === "" ? [] : key.split("$"), tables }));
};
