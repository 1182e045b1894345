import { storageAddress } from "../contract.ts";

type Options = Readonly<Record<string, string>>;

/**
 * Patience of the SDK with object stores, beneath what the operator sets. Its own defaults try sixteen times for 30 s
 * each, and listings, with which every look at a table begins, six times that: one call behind a silent store would hold
 * its place for minutes. Here a request that has no byte for four seconds has failed, so that a listing ends in 25 s,
 * before an analysis would be ended for taking long; two retries are left for a store that fails now and then.
 */
const patience = {
  timeout: "30s",
  read_timeout: "4s",
  connect_timeout: "3s",
  client_max_retries: "2",
  client_retry_timeout: "3",
  lance_aimd_max_retries: "0",
} as const;

const isRemote = (uri: string): boolean => /^(s3|gs):\/\//i.test(uri);

/** The options that the SDK gets for a database: ours beneath, the operator's over them. */
export const withPatience = (uri: string, options: Options): Options => ({
  ...(isRemote(uri) ? patience : {}),
  ...options,
});

const conditions = /^(aws_)?conditional_put$/i;
const plainHttp = /^(aws_)?allow_http$/i;

const addressFault = (key: string, address: string, allowsHttp: boolean): readonly string[] => {
  const protocol = URL.canParse(address) ? new URL(address).protocol : "";
  if (protocol !== "http:" && protocol !== "https:")
    return [`${key} must be an address with https:// or http://, for instance https://s3.example.com`];
  if (protocol === "http:" && !allowsHttp)
    return [`${key} is an address without TLS: use https://, or set allow_http to "true"`];
  return [];
};

/**
 * What is wrong with storage options that the SDK would find at the first request only, some by ending it in a panic.
 * @returns sentences that name the option and not its value.
 */
export const storageFaults = (options: Options): readonly string[] => {
  const entries = Object.entries(options);
  const allowsHttp = entries.some(([key, value]) => plainHttp.test(key) && value === "true");
  return entries.flatMap(([key, value]) => {
    if (storageAddress.test(key)) return addressFault(key, value, allowsHttp);
    if (conditions.test(key) && value !== "etag")
      return [`${key} must be "etag" or absent: without conditional puts two creators of the same tag could both win`];
    return [];
  });
};
