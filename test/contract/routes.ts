import type { Described } from "./document.ts";

/** Calls an operation that this service does not implement: it must not return 404, which clients read as "no such table". */
export const routeFault = async (base: string, token: string, operation: Described): Promise<string | undefined> => {
  const { method, path } = operation;
  const address = `${base}${path.replaceAll("{id}", "docs").replaceAll(/\{\w+\}/g, "any")}`;
  for (const url of [address, `${address}/`]) {
    const response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(method === "GET" ? {} : { body: "{}" }),
    });
    const text = await response.text();
    const { code } = JSON.parse(text === "" ? "{}" : text) as { readonly code?: number };
    if (response.status !== 406 || code !== 0)
      return `${method} ${url.slice(base.length)} answers ${response.status} with code ${code}, not 406 with code 0`;
  }
  return undefined;
};
