/**
 * An OpenID provider in a process of its own, of the package oidc-provider: a confidential client, a public one with a
 * browser, and a public one without. Anybody can sign in. Access tokens are JWTs for the resource and live for some seconds.
 * Arguments: port, port of the client's redirect, audience, seconds.
 */
const [port = "", callbackPort = "", audience = "", seconds = ""] = process.argv.slice(2);

// The package has no types.
const name: string = "oidc-provider";
const { default: Provider } = await import(name);

const publicClient = { token_endpoint_auth_method: "none", application_type: "native" };
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: "batch",
      client_secret: "secret-of-the-batch",
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
    },
    {
      ...publicClient,
      client_id: "person",
      redirect_uris: [`http://127.0.0.1:${callbackPort}/callback`],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    },
    {
      ...publicClient,
      client_id: "terminal",
      redirect_uris: [],
      response_types: [],
      grant_types: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
    },
  ],
  scopes: ["openid", "offline_access", "read", "stats"],
  // The client asks for no consent, without which the library would leave offline_access out.
  issueRefreshToken: (_: unknown, client: { grantTypeAllowed: (type: string) => boolean }) =>
    client.grantTypeAllowed("refresh_token"),
  pkce: { required: () => true },
  features: {
    clientCredentials: { enabled: true },
    deviceFlow: { enabled: true },
    devInteractions: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: () => ({
        scope: "read stats",
        audience,
        accessTokenFormat: "jwt",
        accessTokenTTL: Number(seconds),
      }),
      // Node's client names no resource.
      defaultResource: () => audience,
      useGrantedResource: () => true,
    },
  },
});
// One line for each token, so that the test can count them.
provider.on("grant.success", ({ oidc }: { oidc: { params: { grant_type: string }; client: { clientId: string } } }) =>
  process.stdout.write(`granted ${oidc.client.clientId} ${oidc.params.grant_type}\n`),
);
provider.listen(Number(port), "127.0.0.1", () => process.stdout.write("provider listens\n"));
