import { environment as names, paths, ports } from "../contract.ts";

const timeoutMs = 2000;

/** The address at which a service that listens on `host` is reached from its own machine. */
const addressOf = (host: string): string => {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
};

/**
 * Requests `/livez` of a service on this machine with the same environment.
 * @returns the fault, or undefined.
 */
export const findFault = async (
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> => {
  const host = environment[names.host] || "127.0.0.1";
  const port = environment[names.operationsPort] || ports.operations;
  const url = `http://${addressOf(host)}:${port}${paths.live}`;
  try {
    const { status } = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
    return status === 200 ? undefined : `${url} answered ${status}`;
  } catch (error) {
    const { cause, message } = error as Error;
    return `${url} did not answer: ${cause instanceof Error ? cause.message : message}`;
  }
};
