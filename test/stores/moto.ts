import { fileURLToPath } from "node:url";
import { pythonWith } from "../../tools/parts/python.ts";
import { bucketName } from "../support/object-store.ts";
import { startProcess } from "../support/process.ts";
import { sendTo } from "./forward.ts";
import type { StoreServer } from "./store-server.ts";

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/** moto's S3 with an empty bucket. */
export const startMoto = async (log: (line: string) => void): Promise<StoreServer> => {
  const { python, missing } = await pythonWith(here("requirements.txt"), log);
  if (python === undefined) return { missing: `moto, ${missing}` };
  const running = startProcess(python, [here("s3_server.py")], { PYTHONDONTWRITEBYTECODE: "1" });
  const [, port] = await running.printed(/^(\d+)\n/);
  const send = sendTo(`http://127.0.0.1:${port}`);
  await send("PUT", `/${bucketName}`);
  return {
    name: "moto",
    behind: ({ method, address, headers, body }) => send(method, address, headers, body),
    async stop() {
      running.child.kill("SIGKILL");
      await running.exited();
    },
  };
};
