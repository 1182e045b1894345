/** Joins the segments of a table pattern. */
export const separator = "$";
/** As the last segment: any number of further segments. */
export const unrestricted = "**";

/** Why a table pattern cannot be used, or undefined. */
export const tablePatternProblem = (pattern: string): string | undefined => {
  const segments = pattern.split(separator);
  if (segments.includes(""))
    return `pattern ${JSON.stringify(pattern)} has an empty segment: write segments joined by "${separator}", for instance prod$*`;
  if (segments.slice(0, -1).some((segment) => segment.includes(unrestricted)))
    return `pattern ${JSON.stringify(pattern)} has "**" before its end: "**" is allowed as the last segment only`;
  if (segments.at(-1) !== unrestricted && segments.at(-1)?.includes(unrestricted))
    return `pattern ${JSON.stringify(pattern)} mixes "**" with other characters in one segment: use "**" alone, as the last segment`;
  return undefined;
};

const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);

/** Why keys must not be fetched from an address, or undefined. Plain http is for a loopback issuer only. */
export const addressProblem = (address: string): string | undefined => {
  const url = URL.parse(address);
  if (url === null) return "must be an absolute URL, for instance https://issuer.example.com";
  if (url.username || url.password) return "must not hold credentials: remove them from the address";
  if (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname))) return undefined;
  return "must use https, because the keys could be replaced in transit";
};
