import { fileURLToPath } from "node:url";
import { pythonWith } from "../../tools/parts/python.ts";
import { bucketName } from "../support/object-store.ts";
import { startProcess } from "../support/process.ts";
import { sendTo } from "./forward.ts";
import type { StoreServer } from "./store-server.ts";

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/** An S3 server with an empty bucket, or what is missing for it. */
export type S3Server =
  | { readonly base: string; stop(): Promise<void>; readonly missing?: never }
  | { readonly missing: string; readonly base?: never };

/**
 * moto's S3 with an empty bucket, on a port that the system chooses.
 * @param environment further variables of moto.
 */
export const startMotoServer = async (
  log: (line: string) => void,
  environment: Readonly<Record<string, string>> = {},
): Promise<S3Server> => {
  const { python, missing } = await pythonWith(here("requirements.txt"), log);
  if (python === undefined) return { missing: `moto, ${missing}` };
  const running = startProcess(python, [here("s3_server.py")], { PYTHONDONTWRITEBYTECODE: "1", ...environment });
  const [, port] = await running.printed(/^(\d+)\n/);
  const base = `http://127.0.0.1:${port}`;
  await sendTo(base)("PUT", `/${bucketName}`);
  return {
    base,
    async stop() {
      running.child.kill("SIGKILL");
      await running.exited();
    },
  };
};

/** moto's S3 with an empty bucket, for the tests of the stores. */
export const startMoto = async (log: (line: string) => void): Promise<StoreServer> => {
  const server = await startMotoServer(log);
  if (server.base === undefined) return { missing: server.missing };
  const send = sendTo(server.base);
  return {
    name: "moto",
    behind: ({ method, address, headers, body }) => send(method, address, headers, body),
    stop: server.stop,
  };
};
