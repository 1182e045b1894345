import { join } from "node:path";
import { Daemon } from "../../e2e/support/daemon.ts";
import { machineAddress } from "./isolation.ts";

/** An S3 server of the machine, which pods reach at the node's address. */
export interface Store {
  /** A database in it. */
  readonly uri: string;
  readonly storageOptions: Readonly<Record<string, string>>;
  /** As the stack's secret `storageOptions`. */
  readonly secretOptions: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

const port = 9000;
const bucket = "lakehead";

/** moto's S3 with an empty bucket, in the namespaces of the cluster. */
export async function startStore(python: string, folder: string): Promise<Store> {
  const endpoint = `http://${machineAddress}:${port}`;
  const daemon = new Daemon({
    name: "moto",
    command: python,
    args: ["-m", "moto.server", "-H", machineAddress, "-p", String(port)],
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
    logFile: join(folder, "moto.log"),
  });
  await daemon.until("moto's bucket", async () => {
    const { ok } = await fetch(`${endpoint}/${bucket}`, { method: "PUT" });
    return ok ? true : undefined;
  });
  return {
    uri: `s3://${bucket}/tables`,
    storageOptions: { aws_endpoint: endpoint, allow_http: "true", aws_region: "us-east-1" },
    secretOptions: { aws_access_key_id: "nodes", aws_secret_access_key: "nodes" },
    stop: () => daemon.stop(),
  };
}
