import type { ConsoleSettings } from "../index-page.ts";

/** The token of this tab. It is kept until the tab is closed, and never elsewhere. */
const key = "lakehead.token";

export const storedToken = (): string | undefined => sessionStorage.getItem(key) ?? undefined;
export const storeToken = (token: string): void => sessionStorage.setItem(key, token);
export const forgetToken = (): void => sessionStorage.removeItem(key);

export const readSettings = (): ConsoleSettings => {
  const element = document.querySelector<HTMLMetaElement>('meta[name="lakehead-console"]');
  return JSON.parse(element?.content ?? "{}") as ConsoleSettings;
};

/** Address of the service: the folder above the page's. */
export const serviceRoot = (): string => new URL("../", new URL(".", location.href)).href;

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Takes the token that `npm start` prints from the address (`#token=…`), on loopback only: elsewhere a link could sign a
 * reader in with credentials of the link's author.
 */
export const takeTokenFromAddress = (): string | undefined => {
  const [, token] = /^#token=([\w.~+/=-]+)$/.exec(location.hash) ?? [];
  if (token === undefined) return undefined;
  history.replaceState(null, "", `${location.pathname}#/tables`);
  return loopback.has(location.hostname) ? token : undefined;
};
