/** Name of the bucket of access logs, from that of the tables' bucket, because names are unique in all of AWS. */
export const accessLogsBucket = (tables: string): string => `${tables}-access-logs`;
