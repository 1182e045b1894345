import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { freePort } from "../../tools/parts/free-port.ts";
import { type Running, startProcess } from "../support/process.ts";

/** A real one, ready. @param folder for its configuration, and with its data below `data` */
export async function startPrometheus(
  folder: string,
  configuration: object,
): Promise<{ readonly url: string; readonly process: Running }> {
  const [file, port] = [join(folder, "prometheus.yaml"), await freePort()];
  await writeFile(file, stringify(configuration));
  const process = startProcess(
    "prometheus",
    [
      ...[`--config.file=${file}`, `--storage.tsdb.path=${join(folder, "data")}`, "--storage.tsdb.retention.time=60d"],
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    {},
  );
  await process.printed(/Server is ready/);
  return { url: `http://127.0.0.1:${port}`, process };
}

/** Ends what was started last first. */
export async function end(processes: readonly Running[]): Promise<void> {
  for (const { child, exited } of processes.toReversed()) {
    child.kill("SIGTERM");
    await exited();
  }
}
