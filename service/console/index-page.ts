/** What the page must know before anybody signs in. */
export interface ConsoleSettings {
  /** Version of the service. */
  readonly version: string;
  /** Sign-in by the issuer's authorization code flow; absent: with a token only. */
  readonly signIn?: SignInSettings;
}

export interface SignInSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Audience of the access token. */
  readonly audience: string;
  /** Scopes to request, separated by spaces. */
  readonly scope: string;
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => entities[character] ?? "");

/** Addresses are relative, so that the console also works behind a path prefix. */
export const indexPage = (version: string, settings: ConsoleSettings): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="lakehead-console" content="${escaped(JSON.stringify(settings))}">
<title>Lakehead console</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${version}/style.css">
<script type="module" src="${version}/main.js"></script>
</head>
<body>
<div id="app"></div>
<noscript>The console needs JavaScript.</noscript>
</body>
</html>
`;

/**
 * Content security policy of the page.
 * @param issuer whose discovery document and token endpoint the page fetches.
 */
export const policyOf = (issuer: string | undefined): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "media-src blob:",
    `connect-src ${["'self'", ...(issuer === undefined ? [] : [new URL(issuer).origin])].join(" ")}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
