import { environment, ports } from "../../../service/contract.ts";
import type { VendingIdentity } from "../../clouds/cloud.ts";
import { sortedJson } from "../../kubernetes/checksum.ts";
import { catalogScopes } from "../../model/catalog.ts";

/** The part of the stack's configuration that becomes the service's environment. */
export interface ServiceSettings {
  readonly logLevel: string;
  readonly console: boolean;
  readonly writes: boolean;
  readonly functions: { readonly enabled: boolean; readonly uploadGigabytes: number };
  /** Rules of the maintenance of tables, which its callers may ask for where it takes writes. */
  readonly maintenanceRules: readonly object[];
  readonly auth: {
    readonly issuer?: string | undefined;
    readonly audience?: string | undefined;
    readonly jwksUrl?: string | undefined;
    readonly scopeClaim?: string | undefined;
    readonly apiKey: boolean;
    readonly consoleClientId?: string | undefined;
  };
}

/** Where Ray's pods open tables by the table service: who they are to it. */
export interface CatalogCaller {
  /** Of the cluster's tokens. */
  readonly issuer: string;
  readonly audience: string;
  /** `namespace/name` of Ray's service account. */
  readonly account: string;
}

export interface DatabaseSettings {
  readonly uri: string;
  /** Storage options that are no secret; undefined when a Secret carries all of them. */
  readonly storageOptions: Readonly<Record<string, string>> | undefined;
}

/** The data of the service's ConfigMap: environment variables by name. Absent settings have no entry. */
export function configMapData(
  settings: ServiceSettings,
  database: DatabaseSettings,
  vending?: VendingIdentity,
  caller?: CatalogCaller,
): Record<string, string> {
  const values: Record<string, string | undefined> = {
    [environment.database]: database.uri,
    [environment.storageOptions]: database.storageOptions && sortedJson(database.storageOptions),
    [environment.host]: "0.0.0.0",
    [environment.port]: String(ports.api),
    [environment.operationsPort]: String(ports.operations),
    [environment.logLevel]: settings.logLevel,
    [environment.issuer]: settings.auth.issuer,
    [environment.audience]: settings.auth.audience ?? caller?.audience,
    [environment.jwksUrl]: settings.auth.jwksUrl,
    [environment.scopeClaim]: settings.auth.scopeClaim,
    [environment.apiKey]: settings.auth.apiKey ? "true" : undefined,
    [environment.clusterIssuer]: caller?.issuer,
    [environment.serviceAccounts]: caller && JSON.stringify([{ name: caller.account, scopes: catalogScopes }]),
    [environment.console]: settings.console ? "on" : undefined,
    [environment.writes]: settings.writes ? "on" : undefined,
    [environment.functions]: settings.functions.enabled ? "on" : undefined,
    [environment.maxLargeUploadBytes]:
      settings.functions.enabled && settings.functions.uploadGigabytes > 0
        ? String(settings.functions.uploadGigabytes * 1e9)
        : undefined,
    [environment.vending]: vending?.mode,
    [environment.vendingRole]: vending?.roleArn,
    [environment.vendingKmsKey]: vending?.kmsKeyArn,
    [environment.vendingSeconds]: vending?.seconds === undefined ? undefined : String(vending.seconds),
    [environment.maintenance]: settings.writes ? JSON.stringify(settings.maintenanceRules) : undefined,
    [environment.consoleClientId]: settings.console ? settings.auth.consoleClientId : undefined,
  };
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/**
 * Adds secret storage options to the public ones.
 * @param secret a JSON object with string values
 * @throws TypeError for anything else; the message does not contain the value
 */
export function mergeStorageOptions(open: Readonly<Record<string, string>>, secret: string): string {
  const parsed = parseObject(secret);
  if (parsed === undefined) {
    throw new TypeError(
      'lakehead:storageOptions: expected a JSON object with string values, such as {"aws_access_key_id":"…"}',
    );
  }
  return sortedJson({ ...open, ...parsed });
}

function parseObject(text: string): Record<string, string> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    return Object.values(value).every((entry) => typeof entry === "string")
      ? (value as Record<string, string>)
      : undefined;
  } catch {
    return undefined;
  }
}
