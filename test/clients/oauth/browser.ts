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
export const visit = async (address: string, fill: Readonly<Record<string, string>>): Promise<string> => {
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
