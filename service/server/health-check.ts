import { environment as names, paths, ports } from "../contract.ts";

const timeoutMs = 2000;

/** Where a service with this environment can be asked from its own machine: "any address" is none that one can call. */
const addressOf = (host: string): string => {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
};

/**
 * Asks the service that runs beside this process with the same environment whether it lives.
 * @returns what is wrong, or undefined.
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
