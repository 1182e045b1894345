import type * as oauth from "oauth4webapi";
import type { SignInSettings } from "../index-page.ts";

/** What the page must remember while the issuer asks for the password. */
interface Pending {
  readonly state: string;
  readonly verifier: string;
  /** Fragment of the view to return to. */
  readonly view: string;
}

const key = "lakehead.sign-in";

const load = (): Promise<typeof oauth> => import("oauth4webapi");

const redirectUri = (): string => new URL(".", location.href).href;

/** Plain http is for an issuer on loopback, as in the service. */
const optionsFor = (library: typeof oauth, issuer: string) => ({
  [library.allowInsecureRequests]: new URL(issuer).protocol === "http:",
});

const discover = async (library: typeof oauth, { issuer }: SignInSettings): Promise<oauth.AuthorizationServer> => {
  const url = new URL(issuer);
  const response = await library.discoveryRequest(url, optionsFor(library, issuer));
  return library.processDiscoveryResponse(url, response);
};

/** An audience that is an address is requested as RFC 8707 does, any other as several issuers do. */
const audienceParameters = (audience: string): Readonly<Record<string, string>> => {
  if (audience === "") return {};
  return URL.canParse(audience) ? { resource: audience, audience } : { audience };
};

/** Leaves the page for the issuer's. */
export const startSignIn = async (settings: SignInSettings): Promise<void> => {
  const library = await load();
  const { authorization_endpoint: endpoint } = await discover(library, settings);
  if (endpoint === undefined) throw new Error(`${settings.issuer} has no authorization_endpoint: sign in with a token`);
  const verifier = library.generateRandomCodeVerifier();
  const pending: Pending = { state: library.generateRandomState(), verifier, view: location.hash };
  sessionStorage.setItem(key, JSON.stringify(pending));
  const address = new URL(endpoint);
  const parameters = {
    client_id: settings.clientId,
    redirect_uri: redirectUri(),
    response_type: "code",
    scope: settings.scope,
    state: pending.state,
    code_challenge: await library.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    ...audienceParameters(settings.audience),
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  location.assign(address);
};

const isReturn = (parameters: URLSearchParams): boolean => parameters.has("state");

/**
 * Exchanges the code that the issuer put into the address for an access token. The address is cleaned in any case.
 * @returns undefined if the address has no code.
 * @throws Error with the issuer's reason.
 */
export const finishSignIn = async (settings: SignInSettings): Promise<string | undefined> => {
  const current = new URL(location.href);
  if (!isReturn(current.searchParams)) return undefined;
  const stored = sessionStorage.getItem(key);
  sessionStorage.removeItem(key);
  const pending: Pending | undefined = stored === null ? undefined : JSON.parse(stored);
  history.replaceState(null, "", `${location.pathname}${pending?.view ?? ""}`);
  if (pending === undefined) throw new Error("the sign-in was started in another tab: start it again here");
  const library = await load();
  const server = await discover(library, settings);
  const client: oauth.Client = { client_id: settings.clientId };
  const parameters = library.validateAuthResponse(server, client, current, pending.state);
  const { resource } = audienceParameters(settings.audience);
  const response = await library.authorizationCodeGrantRequest(
    server,
    client,
    library.None(),
    parameters,
    redirectUri(),
    pending.verifier,
    {
      ...optionsFor(library, settings.issuer),
      ...(resource === undefined ? {} : { additionalParameters: { resource } }),
    },
  );
  return (await library.processAuthorizationCodeResponse(server, client, response)).access_token;
};

/** A failure of the sign-in as a sentence. */
export const signInProblem = (error: unknown): string => {
  // The browser's only sign of a request that failed or that CORS or the policy forbids.
  if (error instanceof TypeError && !("code" in error))
    return "the issuer does not answer, or does not allow requests from this page (CORS): see docs/console.md, or sign in with a token";
  const { error: code, error_description: description, message } = error as Record<string, unknown>;
  if (typeof code === "string") return `the issuer refused: ${typeof description === "string" ? description : code}`;
  return typeof message === "string" ? message : "the sign-in failed";
};
