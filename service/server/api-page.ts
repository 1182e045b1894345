import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Hono } from "hono";
import { paths } from "../contract.ts";
import { type AppEnv, answerHeaders, notModified } from "./request.ts";

const title = "Lakehead table service";

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${paths.docs}/swagger-ui.css">
</head>
<body>
<main id="page"></main>
<noscript>This page needs JavaScript. The OpenAPI document is at <a href="${paths.openapi}">${paths.openapi}</a>.</noscript>
<script src="${paths.docs}/swagger-ui-bundle.js"></script>
<script src="${paths.docs}/start.js"></script>
</body>
</html>
`;

const start = `SwaggerUIBundle(${JSON.stringify({
  url: paths.openapi,
  dom_id: "#page",
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  // Operations show their schemas.
  defaultModelsExpandDepth: -1,
  // The document is not sent to a validator.
  validatorUrl: null,
})});
`;

/** The page uses this server only, so it works without internet access. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const pageHeaders = { "content-security-policy": policy, "referrer-policy": "no-referrer" } as const;

const types = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};

const packaged = async (name: string): Promise<Buffer<ArrayBuffer>> => {
  try {
    return (await readFile(new URL(import.meta.resolve(`swagger-ui-dist/${name}`)))) as Buffer<ArrayBuffer>;
  } catch (cause) {
    const message = `LAKEHEAD_DOCS is on, but ${name} of swagger-ui-dist cannot be read: install the package, or set LAKEHEAD_DOCS=off`;
    throw new Error(message, { cause });
  }
};

/**
 * Swagger UI for the OpenAPI document, from local files.
 * @throws Error if its package is not installed.
 */
export const createApiPage = async (): Promise<Hono<AppEnv>> => {
  const files = {
    "": { type: types.html, content: Buffer.from(page) },
    "/start.js": { type: types.js, content: Buffer.from(start) },
    "/swagger-ui-bundle.js": { type: types.js, content: await packaged("swagger-ui-bundle.js") },
    "/swagger-ui.css": { type: types.css, content: await packaged("swagger-ui.css") },
  };
  const app = new Hono<AppEnv>({ strict: false });
  for (const [path, { type, content }] of Object.entries(files)) {
    const etag = `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
    app.get(paths.docs + path, notModified, (context) => {
      const headers = {
        ...answerHeaders(context.get("record")),
        ...pageHeaders,
        etag,
        "cache-control": "no-cache",
        "content-type": type,
      };
      return context.body(content, 200, headers);
    });
  }
  return app;
};
