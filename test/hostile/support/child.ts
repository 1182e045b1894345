import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import type { Running } from "../../acceptance/process.ts";
import { type Listening, startListening } from "../../support/listening.ts";
import { testToken } from "../../support/service.ts";
import { staticToken } from "../../support/static-token.ts";

/** The real service in a process of its own, on a copy of the test tables: what ends it is seen and ends no test. */
export interface ServiceProcess extends Listening {
  /** Signal or exit code, once the process has ended. */
  ended(): string | number | null | undefined;
  exited: Running["exited"];
  output: Running["output"];
  close(): Promise<void>;
}

export const startServiceProcess = async (
  environment: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> => {
  const home = await mkdtemp(join(tmpdir(), "lakehead-hostile-"));
  await cp(inject("tables"), join(home, "data"), { recursive: true });
  const service = await startListening([staticToken("hostile", testToken)], {
    LAKEHEAD_DATABASE: join(home, "data"),
    ...environment,
  });
  await service.ready();
  let ended: string | number | null | undefined;
  const { child, exited, output } = service.running;
  void exited().then((how) => {
    ended = how;
  });
  return {
    ...service,
    ended: () => ended,
    exited,
    output,
    async close() {
      child.kill("SIGKILL");
      await exited();
      await rm(home, { recursive: true, force: true });
    },
  };
};
