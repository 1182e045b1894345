import packageFile from "../package.json" with { type: "json" };
import { type Config, readConfig } from "./config/config.ts";
import { removeStrayOptions } from "./lance/connection/environment.ts";
import { type Service, startService } from "./start.ts";
import { createLog, type Log } from "./telemetry/log.ts";
import { startTracing } from "./telemetry/tracing.ts";
import { requireTemporaryDirectory } from "./workers/temporary-directory.ts";

/** Exit codes. A script can distinguish an invalid configuration from a failure to start. */
const exitCode = { ok: 0, failure: 1, configuration: 2, interrupted: 130 } as const;

const fail = (error: unknown, code: number): never => {
  process.stderr.write(`lakehead: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(code);
};

const readOrFail = (environment: Readonly<Record<string, string | undefined>>): Config => {
  try {
    return readConfig(environment);
  } catch (error) {
    return fail(error, exitCode.configuration);
  }
};

/** The first SIGTERM or SIGINT drains and exits with 0, a second one exits at once. */
const stopOnSignals = (stop: () => Promise<void>): void => {
  let stopping = false;
  for (const signal of ["SIGTERM", "SIGINT"] as const)
    process.on(signal, () => {
      if (stopping) process.exit(exitCode.interrupted);
      stopping = true;
      stop().then(
        () => process.exit(exitCode.ok),
        (error: unknown) => fail(error, exitCode.failure),
      );
    });
};

/** The process state is undefined after an uncaught exception. */
const exitOnUncaught = (log: Log): void => {
  process.on("uncaughtException", (error) => {
    log.error({ cause: error.stack ?? error.message }, "uncaught exception");
    process.exit(exitCode.failure);
  });
};

/**
 * Runs the service in this process until SIGTERM or SIGINT. An invalid configuration or a port in use exits the process
 * with an error message.
 * @param environment of the process: variables that the native library would mistake for storage options are removed.
 */
export const serveUntilSignal = async (environment: Record<string, string | undefined>): Promise<Service> => {
  const config = readOrFail(environment);
  const log = createLog(config.logLevel);
  const stray = removeStrayOptions(environment);
  if (stray.length > 0)
    log.info({ variables: stray }, "ignored as storage options; set LAKEHEAD_STORAGE_OPTIONS instead");
  exitOnUncaught(log);
  const tracing = config.otlpEndpoint === undefined ? undefined : await startTracing(config.otlpEndpoint);
  if (config.guard === "off")
    log.warn({}, "LAKEHEAD_UNSAFE_GUARD is off: a single request can crash this process; never use it in production");
  const service = await requireTemporaryDirectory()
    .then(() => startService(config, log, packageFile.version))
    .catch((error: unknown) => fail(error, exitCode.failure));
  log.info({ host: config.host, port: service.api.port, operationsPort: service.health.port }, "listening");
  stopOnSignals(async () => {
    await service.stop();
    await tracing?.stop();
  });
  return service;
};
