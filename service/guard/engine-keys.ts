const prefixes = /^(?:lance-|lance:|lakehead\.|ARROW:)/i;

/**
 * Whether the engine or Arrow says by a metadata key how values are stored, so that another value makes the table unreadable; or
 * the service, which Function fills a column.
 */
export const isEngineKey = (key: string): boolean => prefixes.test(key);
