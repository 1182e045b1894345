/**
 * An OpenID provider in a process of its own, of the package oidc-provider: anybody can sign in, and gets a JWT for the
 * resource. Arguments: port, redirect URI, audience.
 */
const [port = "", redirectUri = "", audience = ""] = process.argv.slice(2);

const scope = "plan analyze stats read tags:read";

// The package has no types.
const name: string = "oidc-provider";
const { default: Provider } = await import(name);

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: "console",
      token_endpoint_auth_method: "none",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code"],
      response_types: ["code"],
    },
  ],
  scopes: ["openid", ...scope.split(" ")],
  clientBasedCORS: (_: unknown, origin: string) => origin === new URL(redirectUri).origin,
  features: {
    devInteractions: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: () => ({ scope, audience, accessTokenFormat: "jwt", accessTokenTTL: 600 }),
    },
  },
});
provider.listen(Number(port), "127.0.0.1", () => process.stdout.write("provider listens\n"));
