import { rm } from "node:fs/promises";
import { join } from "node:path";
import { freePorts } from "../../tools/parts/free-port.ts";
import { pythonWith } from "../../tools/parts/python.ts";
import { type Running, startProcess } from "../support/process.ts";
import { startReadyServiceProcess } from "../support/service-process.ts";

/** A person with a browser: follows redirects with cookies, and submits each form with its own fields and those given. */
const maxPages = 12;

const attribute = (tag: string, name: string): string =>
  (new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? "").replaceAll("&amp;", "&");

/** The first form of a page: where it goes, and what it sends. */
const formOf = (html: string, fill: Readonly<Record<string, string>>) => {
  const [, tag = "", inner = ""] = /<form\b([^>]*)>(.*?)<\/form>/s.exec(html) ?? [];
  if (tag === "") return undefined;
  const inputs = [...inner.matchAll(/<input\b[^>]*>/g)].map(([input]): [string, string] => {
    const name = attribute(input, "name");
    return [name, fill[name] ?? attribute(input, "value")];
  });
  return { action: attribute(tag, "action"), body: new URLSearchParams(inputs.filter(([name]) => name !== "")) };
};

/** @returns the text of the page that has no form. @throws Error if there is none after some pages. */
const visit = async (address: string, fill: Readonly<Record<string, string>>): Promise<string> => {
  const cookies = new Map<string, string>();
  let at = new URL(address);
  let body: URLSearchParams | undefined;
  for (let pages = 0; pages < maxPages; pages++) {
    const response = await fetch(at, {
      method: body === undefined ? "GET" : "POST",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
      redirect: "manual",
      ...(body === undefined ? {} : { body }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    const html = await response.text();
    const to = response.headers.get("location");
    const form = to === null ? formOf(html, fill) : undefined;
    if (to === null && form === undefined) return html;
    at = new URL(to ?? form?.action ?? "", at);
    body = form?.body;
  }
  throw new Error(`no end of the pages of ${address}`);
};

const here = (path: string): string => new URL(path, import.meta.url).pathname;

const audience = "https://tables.example.com";

/** Life of a token, in seconds: each client reads once before its end and once after. */
const life = 4;
const secondsForOne = 60;

const rows = /^(rows 3\n){2}$/m;

/** What a client does, what it prints, and which grants of tokens the provider counts. */
const cases: readonly {
  readonly name: string;
  readonly client: "Python" | "Node";
  readonly flow: string;
  readonly prints: RegExp;
  readonly grants: RegExp;
}[] = [
  {
    name: "client credentials",
    client: "Python",
    flow: "client credentials",
    prints: rows,
    grants: /^(granted batch client_credentials\n){2,}$/,
  },
  {
    name: "client credentials",
    client: "Node",
    flow: "",
    prints: rows,
    grants: /^(granted batch client_credentials\n){2,}$/,
  },
  {
    name: "authorization code with PKCE, then a refresh",
    client: "Python",
    flow: "authorization code",
    prints: rows,
    grants: /^granted person authorization_code\n(granted person refresh_token\n)+$/,
  },
  {
    name: "device code, then a refresh",
    client: "Python",
    flow: "device code",
    prints: rows,
    grants: /^granted terminal urn:ietf:params:oauth:grant-type:device_code\n(granted terminal refresh_token\n)+$/,
  },
  {
    name: "a wrong secret, refused by the provider",
    client: "Python",
    flow: "a wrong secret",
    prints: /invalid_client/,
    grants: /^$/,
  },
  {
    name: "a token without the scope, refused by the service with its name",
    client: "Python",
    flow: "no scope of the service",
    prints: /403 Forbidden.*lack the scope read/,
    grants: /^(granted batch client_credentials\n)+$/,
  },
];

/** Signs in where the client says, as a person would. */
const signIn = async ({ printed }: Running): Promise<void> => {
  const person = { login: "ada", password: "any" };
  const [, address = "", code = ""] = await printed(
    /Open this URL to authenticate with OAuth: (\S+)|visit (?<at>\S+) and enter code (?<code>\S+)/,
  ).then(({ 1: open, groups }) => ["", open ?? groups?.at ?? "", groups?.code ?? ""]);
  await visit(address, { ...person, user_code: code });
};

/** Cases of OAuth, or what is missing for them. */
export type OAuthRun =
  | { readonly results: readonly { readonly name: string; readonly failure: string | undefined }[] }
  | { readonly missing: string; readonly results?: never };

/** LanceDB's clients against the service with the tokens of an OpenID provider that they get by themselves. */
export const runOAuth = async (database: string, home: string, log: (line: string) => void): Promise<OAuthRun> => {
  const found = await pythonWith(here("python/requirements.txt"), log);
  if (found.missing !== undefined) return { missing: found.missing };
  const [issuerPort = 0, callbackPort = 0] = await freePorts(2);
  const issuer = `http://127.0.0.1:${issuerPort}`;
  const provider = startProcess(
    process.execPath,
    [here("oauth/provider.ts"), String(issuerPort), String(callbackPort), audience, String(life)],
    {},
  );
  await provider.printed(/provider listens/);
  const service = await startReadyServiceProcess({
    copyOf: database,
    environment: { LAKEHEAD_AUTH_ISSUER: issuer, LAKEHEAD_AUTH_AUDIENCE: audience },
  });
  const grants = (): string =>
    provider
      .output()
      .match(/^granted .*\n/gm)
      ?.join("") ?? "";
  const runOne = async ({ client, flow, prints, grants: expected }: (typeof cases)[number]) => {
    const before = grants().length;
    const [program, ...args] =
      client === "Node"
        ? [process.execPath, here("node/oauth.ts"), service.base, issuer, String(life)]
        : [
            found.python,
            "-u",
            here("python/oauth.py"),
            ...[service.base, issuer, String(callbackPort), audience, String(life), flow],
          ];
    const running = startProcess(program ?? "", args, { HOME: join(home, "oauth") });
    const timer = setTimeout(() => running.child.kill("SIGKILL"), secondsForOne * 1000);
    try {
      if (flow.endsWith(" code")) await signIn(running);
      await running.exited();
    } finally {
      clearTimeout(timer);
      running.child.kill("SIGKILL");
    }
    const granted = grants().slice(before);
    if (!prints.test(running.output())) return `it printed:\n${running.output().slice(-600)}`;
    return expected.test(granted) ? undefined : `the provider granted:\n${granted}`;
  };
  try {
    const results = [];
    for (const one of cases)
      results.push({ name: `${one.client}, ${one.name}`, failure: await runOne(one).catch(String) });
    return { results };
  } finally {
    await service.stop();
    provider.child.kill();
    await rm(join(home, "oauth"), { recursive: true, force: true });
  }
};
