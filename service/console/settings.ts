import type { AuthConfig } from "../auth/index.ts";
import { scopes } from "../contract.ts";
import type { ConsoleSettings } from "./index-page.ts";

/** The page reads no files. */
const pageScopes = scopes.filter((name) => name !== "credentials" && name !== "functions");

interface Configured {
  readonly auth: Pick<AuthConfig, "issuer" | "audience" | "scopePrefix">;
  readonly consoleClientId?: string;
  readonly consoleScope?: string;
}

/** @param version of the service. */
export const consoleSettings = (
  { auth, consoleClientId, consoleScope }: Configured,
  version: string,
): ConsoleSettings => {
  const { issuer, audience, scopePrefix = "" } = auth;
  if (consoleClientId === undefined || issuer === undefined) return { version };
  const scope = consoleScope ?? ["openid", ...pageScopes.map((name) => `${scopePrefix}${name}`)].join(" ");
  return { version, signIn: { issuer, clientId: consoleClientId, audience: audience[0] ?? "", scope } };
};
