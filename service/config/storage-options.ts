import { storageAddress } from "../contract.ts";

/** A database in a bucket whose prefix means itself in a policy. */
export const plainDatabase = /^(?:s3|gs):\/\/([a-z0-9][a-z0-9._-]+)((?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9_.=+@-]+)*)\/*$/;

type Options = Readonly<Record<string, string>>;

/**
 * Timeouts and retries of the SDK's requests to object stores; the operator's options override them. By default the SDK
 * makes up to 16 attempts of 30 s each, and six times as many for a listing, which precedes every read of a table: a
 * call to an unresponsive store would occupy the concurrency limit for minutes. Here a request fails after 4 s without
 * data, so that a listing fails within 25 s, before the deadline of an analysis. Two retries cover occasional failures.
 */
const remoteDefaults = {
  timeout: "30s",
  read_timeout: "4s",
  connect_timeout: "3s",
  client_max_retries: "2",
  client_retry_timeout: "3",
  lance_aimd_max_retries: "0",
} as const;

const isRemote = (uri: string): boolean => /^(s3|gs):\/\//i.test(uri);

/** The storage options for a database: the defaults, overridden by the operator's. */
export const withStorageDefaults = (uri: string, options: Options): Options => ({
  ...(isRemote(uri) ? remoteDefaults : {}),
  ...options,
});

/** The value of the first option whose name matches. */
export const findOption = (options: Options, name: RegExp): string | undefined =>
  Object.entries(options).find(([key]) => name.test(key))?.[1];

const conditionalPut = /^(aws_)?conditional_put$/i;
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
 * Finds faults in storage options that the SDK reports only at the first request, some of them by a panic.
 * @returns sentences that name the option but never its value, which may be a secret.
 */
export const storageFaults = (options: Options): readonly string[] => {
  const entries = Object.entries(options);
  const allowsHttp = entries.some(([key, value]) => plainHttp.test(key) && value === "true");
  return entries.flatMap(([key, value]) => {
    if (storageAddress.test(key)) return addressFault(key, value, allowsHttp);
    if (conditionalPut.test(key) && value !== "etag")
      return [`${key} must be "etag" or absent: without conditional puts two clients could both create the same tag`];
    return [];
  });
};
