/** Why a preview failed: `pulumi preview --json` writes its diagnostics into the document, not to standard error. Pure. */

interface Diagnostic {
  readonly severity?: unknown;
  readonly message?: unknown;
  readonly urn?: unknown;
}

const quiet = new Set(["debug", "info", "info#err"]);

/** `<severity>: <message>`, with the resource's name where there is one. Information only where there is nothing else. */
export function diagnosticsOf(output: string): string[] {
  let found: readonly Diagnostic[] = [];
  try {
    const { diagnostics } = JSON.parse(output) as { diagnostics?: unknown };
    if (Array.isArray(diagnostics)) found = diagnostics as readonly Diagnostic[];
  } catch {
    return ["the preview printed no JSON; its standard error has the reason"];
  }
  const serious = found.filter(({ severity }) => !quiet.has(String(severity)));
  const lines = (serious.length > 0 ? serious : found).map(({ severity, message, urn }) => {
    const name = typeof urn === "string" ? urn.split("::").slice(3).join("::") : "";
    return `${String(severity)}: ${name === "" ? "" : `${name}: `}${String(message).trim()}`;
  });
  return lines.length > 0 ? lines : ["the preview reported no diagnostics; its standard error has the reason"];
}
