import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ConsoleSettings } from "../index-page.ts";
import { createApi } from "./api.ts";
import { Changes } from "./changes/changes.ts";
import { ChangesList } from "./changes/changes-list.ts";
import { type Session, SessionProvider } from "./context.ts";
import { html } from "./html.ts";
import { useLoad } from "./load.ts";
import { finishSignIn, signInProblem } from "./oidc.ts";
import { Boundary, Failure } from "./parts.ts";
import { addressOf, parseRoute, type Route, type ViewName } from "./route.ts";
import { SignIn } from "./sign-in.ts";
import { linked, viewOf, views } from "./views.ts";

const themeKey = "lakehead.theme";
const themes = ["system", "light", "dark"] as const;
type Theme = (typeof themes)[number];

const storedTheme = (): Theme => themes.find((theme) => theme === localStorage.getItem(themeKey)) ?? "system";

/** Switches between the system's colours, light and dark. */
const ThemeButton = () => {
  const [theme, setTheme] = useState(storedTheme);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem(themeKey, theme);
  }, [theme]);
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? "system";
  return html`<button type="button" class="quiet" onClick=${() => setTheme(next)}>
    Colours: ${theme}
  </button>`;
};

/** The token of this tab. It is kept until the tab is closed, and never elsewhere. */
const tokenKey = "lakehead.token";

const storedToken = (): string | undefined => sessionStorage.getItem(tokenKey) ?? undefined;
const storeToken = (token: string): void => sessionStorage.setItem(tokenKey, token);
const forgetToken = (): void => sessionStorage.removeItem(tokenKey);

const readSettings = (): ConsoleSettings => {
  const element = document.querySelector<HTMLMetaElement>('meta[name="lakehead-console"]');
  return JSON.parse(element?.content ?? "{}") as ConsoleSettings;
};

/** Address of the service: the folder above the page's. */
const serviceRoot = (): string => new URL("../", new URL(".", location.href)).href;

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Takes the token that `npm start` prints from the address (`#token=…`), on loopback only: elsewhere a link could sign a
 * reader in with credentials of the link's author.
 */
const takeTokenFromAddress = (): string | undefined => {
  const [, token] = /^#token=([\w.~+/=-]+)$/.exec(location.hash) ?? [];
  if (token === undefined) return undefined;
  history.replaceState(null, "", `${location.pathname}#/tables`);
  return loopback.has(location.hostname) ? token : undefined;
};

const settings = readSettings();

const useRoute = (): Route => {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const update = (): void => setRoute(parseRoute(location.hash));
    addEventListener("hashchange", update);
    return () => removeEventListener("hashchange", update);
  }, []);
  return route;
};

/** A new address of the same query, or of other rows of the same table, keeps the view. */
const keyOf = (route: Route): string =>
  addressOf({ ...route, fields: undefined, run: undefined, job: undefined } as unknown as Route);

const Shell = ({ session, signOut }: { session: Session; signOut: () => void }) => {
  const route = useRoute();
  const table = "table" in route ? route.table : undefined;
  const key = keyOf(route);
  const main = useRef<HTMLElement>(null);
  const shown = useRef(key);
  const [menu, setMenu] = useState(false);
  useEffect(() => {
    document.title = [...(table === undefined ? [] : [table]), views[route.view].title, "Lakehead"].join(" · ");
    setMenu(false);
    if (shown.current !== key) main.current?.focus();
    shown.current = key;
  }, [key]);
  const current = (name: ViewName) => (route.view === name ? "page" : undefined);
  const link = (name: ViewName) => html`<a
    key=${name}
    href=${addressOf({ view: name, table } as Route)}
    aria-current=${current(name)}
    >${views[name].title}</a
  >`;
  const always = linked("always");
  const skip = (event: Event): void => {
    event.preventDefault();
    main.current?.focus();
  };
  return html`<${SessionProvider} value=${session}>
    <header class=${menu ? "top open" : "top"}>
      <a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
      <strong>Lakehead</strong>
      <span class="where">${table ?? views[route.view].title}</span>
      <button type="button" class="quiet menu" aria-expanded=${menu} onClick=${() => setMenu(!menu)}>Menu</button>
      <nav aria-label="Views">
        ${always.slice(0, 1).map(link)}
        ${
          table !== undefined &&
          html`<span class="crumb" aria-hidden="true">›</span>
            <a href=${addressOf({ view: "table", table })} aria-current=${current("table")}>${table}</a>
            ${linked("table").map(link)}`
        }
        ${always.slice(1).map(link)}
      </nav>
      <span class="who" title=${`Scopes: ${session.me.scopes.join(", ")}. Tables: ${session.me.tables.join(", ")}.`}
        >${session.me.subject}</span
      >
      <${ThemeButton} />
      <button type="button" class="quiet" onClick=${signOut}>Sign out</button>
    </header>
    <${ChangesList} />
    <main id="main" ref=${main} tabindex="-1"><${Boundary} key=${key}>${viewOf(route)}</${Boundary}></main>
  </${SessionProvider}>`;
};

const SignedIn = ({ token, signOut }: { token: string; signOut: (reason?: string) => void }) => {
  const expired = useCallback(() => signOut("The credentials are not valid, or no longer. Sign in again."), [signOut]);
  const api = useMemo(() => createApi(serviceRoot(), token, expired), [token, expired]);
  const { value: me, error, reload } = useLoad((signal) => api.me(signal), [api]);
  const session = useMemo(
    () => (me === undefined ? undefined : { api, me, settings, changes: new Changes(api) }),
    [api, me],
  );
  if (session !== undefined) return html`<${Shell} session=${session} signOut=${() => signOut()} />`;
  if (error !== undefined) return html`<main><${Failure} error=${error} retry=${reload} /></main>`;
  return html`<main><p class="muted">Signing in …</p></main>`;
};

/** Sign-in first: by the token in the address, by the issuer's code in the address, or by that of this tab. */
export const App = () => {
  const [token, setToken] = useState(() => takeTokenFromAddress() ?? storedToken());
  const [reason, setReason] = useState<string | undefined>();
  const [returning, setReturning] = useState(settings.signIn !== undefined);
  const signIn = useCallback((value: string) => {
    storeToken(value);
    setToken(value);
    setReason(undefined);
  }, []);
  const signOut = useCallback((why?: string) => {
    forgetToken();
    setToken(undefined);
    setReason(why);
  }, []);
  useEffect(() => {
    const take = (): void => {
      const found = takeTokenFromAddress();
      if (found !== undefined) signIn(found);
    };
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, [signIn]);
  useEffect(() => {
    if (token !== undefined) storeToken(token);
    if (settings.signIn === undefined) return;
    finishSignIn(settings.signIn)
      .then((found) => found !== undefined && signIn(found))
      .catch((error: unknown) => setReason(signInProblem(error)))
      .finally(() => setReturning(false));
  }, []);
  if (returning) return html`<main><p class="muted">Signing in …</p></main>`;
  if (token === undefined) return html`<${SignIn} settings=${settings} reason=${reason} onToken=${signIn} />`;
  return html`<${SignedIn} key=${token} token=${token} signOut=${signOut} />`;
};
