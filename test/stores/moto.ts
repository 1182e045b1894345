import { fileURLToPath } from "node:url";
import { pythonWith } from "../../tools/parts/python.ts";
import { bucketName } from "../support/object-store.ts";
import { sendTo } from "./forward.ts";
import { type StoreServer, startServer } from "./server-process.ts";

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/** moto's S3 with an empty bucket. */
export const startMoto = async (log: (line: string) => void): Promise<StoreServer> => {
  const { python, missing } = await pythonWith(here("requirements.txt"), log);
  if (python === undefined) return { missing: `moto, ${missing}` };
  const { match, stop } = await startServer(python, [here("s3_server.py")], /^(\d+)\n/, {
    PYTHONDONTWRITEBYTECODE: "1",
  });
  const send = sendTo(`http://127.0.0.1:${match[1]}`);
  await send("PUT", `/${bucketName}`);
  return {
    name: "moto",
    behind: ({ method, address, headers, body }) => send(method, address, headers, body),
    stop,
  };
};
