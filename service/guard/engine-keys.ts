const prefixes = /^(?:lance-|lance:|ARROW:)/i;

/** Whether the engine or Arrow says by a metadata key how values are stored: another value makes the table unreadable. */
export const isEngineKey = (key: string): boolean => prefixes.test(key);
