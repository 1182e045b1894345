import { tablePatternProblem } from "./tables.ts";
import { type AuthConfig, isScope, type StaticToken, scopes } from "./types.ts";

/** What holds for each key that the operator leaves out. Nothing authenticates with these alone. */
export const authDefaults = {
  audience: [],
  algorithms: ["RS256", "PS256", "ES256", "ES384", "EdDSA", "Ed25519"],
  clockToleranceSeconds: 30,
  scopeClaim: "scope",
  defaultTables: ["**"],
  keyCacheSeconds: 600,
  staleKeySeconds: 3600,
  cooldownSeconds: 30,
  allowApiKeyHeader: false,
  staticTokens: [],
} as const satisfies AuthConfig;

/** What {@link AuthConfig.algorithms} may hold: never `none`, and no HMAC, whose key anyone who may verify could sign with. */
export const supportedAlgorithms = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
] as const;

/** One thing wrong with the configuration. */
export interface AuthConfigProblem {
  /** Path into {@link AuthConfig}, for instance `staticTokens[1].scopes`. */
  readonly key: string;
  /** Key, value and way out in one sentence; never a hash or a token. */
  readonly message: string;
}

const seconds = {
  clockToleranceSeconds: [0, 300],
  keyCacheSeconds: [1, 86_400],
  staleKeySeconds: [0, 604_800],
  cooldownSeconds: [1, 3_600],
} as const satisfies Partial<Record<keyof AuthConfig, readonly [number, number]>>;

/**
 * All that is wrong with a configuration, in one list; empty when it can be used.
 * @param nameOf What the operator calls a key, for instance the environment variable behind it.
 */
export function validateAuthConfig(
  config: AuthConfig,
  nameOf: (key: keyof AuthConfig) => string = (key) => key,
): AuthConfigProblem[] {
  const faults = [
    ...issuerFaults(config),
    ...numberFaults(config),
    ...scopeFaults(config),
    ...config.staticTokens.flatMap(staticTokenFaults),
  ];
  return faults.map(([key, text, path = ""]) => ({ key: `${key}${path}`, message: `${nameOf(key)}${path} ${text}` }));
}

/** Key, what is wrong and the way out, path beneath the key. */
type Fault = readonly [key: keyof AuthConfig, text: string, path?: string];

const quote = (value: unknown): string => JSON.stringify(value);

function issuerFaults({ issuer, jwksUrl, audience, algorithms, staticTokens }: AuthConfig): Fault[] {
  const faults: Fault[] = [];
  if (issuer === undefined && jwksUrl !== undefined)
    faults.push(["issuer", "is missing although a key set's address is given; set it to the iss that tokens carry"]);
  else if (issuer === undefined && staticTokens.length === 0)
    faults.push(["issuer", "is missing and there is no static token, so that no one could authenticate; set either"]);
  if (issuer !== undefined && jwksUrl === undefined) faults.push(...addressFaults("issuer", issuer));
  if (issuer === "" && jwksUrl !== undefined) faults.push(["issuer", `is ""; set it to the iss that tokens carry`]);
  if (jwksUrl !== undefined) faults.push(...addressFaults("jwksUrl", jwksUrl));
  if (issuer !== undefined && (audience.length === 0 || audience.includes("")))
    faults.push(["audience", `is ${quote(audience)}; set it to the aud that tokens for this service carry`]);
  if (algorithms.length === 0) faults.push(["algorithms", "is []; leave it out for the default"]);
  for (const algorithm of algorithms)
    if (!(supportedAlgorithms as readonly string[]).includes(algorithm))
      faults.push(["algorithms", `holds ${quote(algorithm)}; allowed are ${supportedAlgorithms.join(", ")}`]);
  return faults;
}

/** Why keys must not be fetched from this address, or undefined. Plain http is for a loopback issuer only. */
export function addressProblem(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null) return `is ${quote(address)}, no absolute URL; give one such as https://issuer.example.com`;
  if (url.username || url.password) return "holds credentials; give the address without them";
  if (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname))) return undefined;
  return `is ${quote(address)}, neither https nor a loopback address, so that anyone on the way could replace the keys; use https`;
}

const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);

function addressFaults(key: "issuer" | "jwksUrl", address: string): Fault[] {
  const problem = addressProblem(address);
  if (problem !== undefined) return [[key, problem]];
  if (key === "issuer" && /[?#]/.test(address))
    return [[key, `is ${quote(address)}, with a query or fragment that an issuer's address cannot have; remove it`]];
  return [];
}

function numberFaults(config: AuthConfig): Fault[] {
  return (Object.keys(seconds) as (keyof typeof seconds)[]).flatMap((key): Fault[] => {
    const [least, most] = seconds[key];
    const value = config[key];
    if (Number.isFinite(value) && value >= least && value <= most) return [];
    return [[key, `is ${value}; give a number of seconds from ${least} to ${most}`]];
  });
}

function scopeFaults(config: AuthConfig): Fault[] {
  const faults: Fault[] = [];
  for (const key of ["scopeClaim", "scopePrefix", "tablesClaim"] as const)
    if (config[key] === "") faults.push([key, `is ""; give a name, or leave it out`]);
  for (const [name, mapped] of Object.entries(config.scopeMap ?? {}))
    faults.push(...unknownScopes("scopeMap", mapped, `[${quote(name)}]`));
  return [...faults, ...malformedPatterns("defaultTables", config.defaultTables)];
}

const unknownScopes = (key: keyof AuthConfig, values: readonly string[], path: string): Fault[] =>
  values
    .filter((value) => !isScope(value))
    .map((value) => [key, `holds ${quote(value)}; the scopes are ${scopes.join(", ")}`, path]);

const malformedPatterns = (key: keyof AuthConfig, patterns: readonly string[], path = ""): Fault[] =>
  patterns.flatMap((pattern): Fault[] => {
    const problem = tablePatternProblem(pattern);
    return problem === undefined ? [] : [[key, `holds ${quote(pattern)}, which ${problem}`, path]];
  });

/** Says nothing of what stands in `sha256`: an operator may have put the token itself there. */
function staticTokenFaults(token: StaticToken, index: number, all: readonly StaticToken[]): Fault[] {
  const fault = (member: keyof StaticToken, text: string): Fault => ["staticTokens", text, `[${index}].${member}`];
  const before = all.slice(0, index);
  const faults: Fault[] = [];
  if (token.name === "") faults.push(fault("name", `is ""; give a name, which the log shows as the subject`));
  if (before.some(({ name }) => name === token.name))
    faults.push(fault("name", `is ${quote(token.name)}, as is that of an earlier token; give each its own`));
  if (!/^[0-9a-f]{64}$/i.test(token.sha256))
    faults.push(
      fault("sha256", `is no SHA-256 of 64 hexadecimal digits but ${token.sha256.length} characters; ${hashRemedy}`),
    );
  else if (before.some(({ sha256 }) => sha256.toLowerCase() === token.sha256.toLowerCase()))
    faults.push(fault("sha256", "is that of an earlier token as well; give each its own token"));
  if (token.scopes.length === 0)
    faults.push(fault("scopes", `is []; name some of ${scopes.join(", ")}, or remove the token`));
  return [
    ...faults,
    ...unknownScopes("staticTokens", token.scopes, `[${index}].scopes`),
    ...malformedPatterns("staticTokens", token.tables, `[${index}].tables`),
  ];
}

const hashRemedy = `make it with: printf %s "$TOKEN" | sha256sum`;
