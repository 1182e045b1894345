import packageFile from "../package.json" with { type: "json" };
import { type Config, readConfig } from "./config/config.ts";
import { takeStrayOptions } from "./lance/environment.ts";
import { type Service, startService } from "./start.ts";
import { createLog, type Log } from "./telemetry/log.ts";
import { startTracing } from "./telemetry/tracing.ts";
import { requireTemporaryDirectory } from "./workers/temporary-directory.ts";

/** Exit codes: an operator's script can tell a wrong environment from a failure to start. */
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

/** The first SIGTERM or SIGINT drains and exits 0, a second one exits at once. */
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

/** What nobody caught leaves the process in a state that nobody knows. */
const exitOnUncaught = (log: Log): void => {
  process.on("uncaughtException", (error) => {
    log.error({ cause: error.stack ?? error.message }, "uncaught exception");
    process.exit(exitCode.failure);
  });
};

/**
 * Runs the service in this process until a signal ends it. A wrong environment or a taken port ends the process with a
 * message that says what to do.
 * @param environment the process's own: what the native library would take from it by mistake is taken out.
 */
export const run = async (environment: Record<string, string | undefined>): Promise<Service> => {
  const config = readOrFail(environment);
  const log = createLog(config.logLevel);
  const stray = takeStrayOptions(environment);
  if (stray.length > 0) log.info({ variables: stray }, "not taken for storage options; set LAKEHEAD_STORAGE_OPTIONS");
  exitOnUncaught(log);
  const tracing = config.otlpEndpoint === undefined ? undefined : await startTracing(config.otlpEndpoint);
  if (config.guard === "off")
    log.warn({}, "LAKEHEAD_UNSAFE_GUARD is off: one request can end this process; never in production");
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
