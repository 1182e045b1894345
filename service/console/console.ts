import { createHash } from "node:crypto";
import { type Context, Hono } from "hono";
import { type Authenticator, readCredentials } from "../auth/index.ts";
import { paths } from "../contract.ts";
import { type AppEnv, answerHeaders, notModified } from "../server/request.ts";
import { type ConsoleSettings, indexPage, policyOf } from "./index-page.ts";
import { readPageFiles } from "./page-files.ts";

const acceptsGzip = (context: Context<AppEnv>): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(context.req.header("accept-encoding") ?? "");

const entityTag = (content: string | Buffer): string =>
  `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;

/**
 * The console: a page over the API, which it calls like any other client, and `me`, which tells the page what its
 * credentials permit.
 * @param writes whether the service serves the operations that change tables.
 * @throws Error if a package of the page is not installed.
 */
export const createConsole = async (
  authenticator: Authenticator,
  settings: ConsoleSettings,
  writes: boolean,
): Promise<Hono<AppEnv>> => {
  const { version, files } = await readPageFiles();
  const html = indexPage(version, settings);
  const htmlTag = entityTag(html);
  const pageHeaders = {
    "content-security-policy": policyOf(settings.signIn?.issuer),
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
  };
  const app = new Hono<AppEnv>({ strict: false });

  app.get(paths.console, notModified, (context) => {
    const headers = { ...answerHeaders(context.get("record")), ...pageHeaders };
    // The page's addresses are relative to the folder. The target is relative too: a proxy may add a prefix.
    const folder = paths.console.slice(1);
    const { pathname, search } = new URL(context.req.url);
    if (!pathname.endsWith("/")) return context.body(null, 308, { ...headers, location: `${folder}/${search}` });
    const cached = { ...headers, etag: htmlTag, "cache-control": "no-cache" };
    return context.body(html, 200, { ...cached, "content-type": "text/html; charset=utf-8" });
  });

  app.get("/", (context) =>
    context.body(null, 302, { ...answerHeaders(context.get("record")), location: `${paths.console.slice(1)}/` }),
  );

  app.get(`${paths.console}/me`, async (context) => {
    const principal = await authenticator.authenticate(readCredentials(context.req.raw.headers));
    const record = context.get("record");
    record.principal = principal.subject;
    const { subject, scopes, tables } = principal;
    return context.json({ subject, scopes: [...scopes], tables: tables.source, writes }, 200, answerHeaders(record));
  });

  for (const [path, { type, content, compressed }] of files) {
    const etag = entityTag(content);
    app.get(`${paths.console}/${version}/${path}`, notModified, (context) => {
      const headers = {
        ...answerHeaders(context.get("record")),
        etag,
        vary: "accept-encoding",
        "cache-control": "public, max-age=31536000, immutable",
        "content-type": type,
      };
      if (acceptsGzip(context)) return context.body(compressed, 200, { ...headers, "content-encoding": "gzip" });
      return context.body(content, 200, headers);
    });
  }
  return app;
};
