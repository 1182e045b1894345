import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OAuth2Server } from "oauth2-mock-server";
import { scopesOf } from "../../service/catalog/rights.ts";
import { manifests } from "../infra/kubernetes/manifests.ts";
import { startMinio } from "../stores/minio.ts";
import { runStack } from "../support/infra/stacks.ts";
import { startReadyServiceProcess } from "../support/service-process.ts";
import { staticToken } from "../support/static-token.ts";

const token = "token-of-the-person-who-runs-it";
/** Life of a pod's token, and time after which its file has another one, in milliseconds. The kubelet takes an hour. */
const life = 30_000;
const renewal = 10_000;

/** What the stack gcp-dev makes where the table service opens the tables. */
async function catalogStack() {
  const capture = await runStack("gcp-dev", "update", {
    "lakehead:tableService": {
      auth: { issuer: "https://login.example.com/", audience: "lakehead-dev" },
      writes: true,
      vending: true,
      catalog: true,
    },
    // Port-forwarding takes a kubelet.
    "lakehead:client": { portForwarding: false },
  });
  if (capture.failure !== undefined) throw new Error(capture.failure);
  const data: Readonly<Record<string, string>> = Object.assign(
    {},
    ...manifests(capture)
      .filter(({ kind }) => kind === "ConfigMap")
      .map((object) => object.body.data),
  );
  const snippet = String(capture.resources.find(({ kind }) => kind === "stack")?.outputs?.clientSnippet);
  const [, workerUri = ""] = /"worker_uri": "(.*)"/.exec(snippet) ?? [];
  return { data, snippet, workerUri };
}

/** A directory of a pod: the stack's module, and a token that is renewed. */
async function podDirectory(data: Readonly<Record<string, string>>) {
  const issuer = new OAuth2Server();
  await issuer.issuer.keys.generate("RS256");
  await issuer.start(0, "127.0.0.1");
  const [account] = JSON.parse(data.LAKEHEAD_AUTH_SERVICE_ACCOUNTS ?? "[]") as { name: string }[];
  const directory = await mkdtemp(join(tmpdir(), "lakehead-pod-"));
  await writeFile(join(directory, "lakehead_catalog.py"), data["lakehead_catalog.py"] ?? "");
  let renewed = 0;
  const renew = async (): Promise<void> => {
    const now = Math.floor(Date.now() / 1000);
    const signed = await issuer.issuer.buildToken({
      scopesOrTransform: (_, payload) =>
        void Object.assign(payload, {
          sub: `system:serviceaccount:${account?.name.replace("/", ":")}`,
          aud: [data.LAKEHEAD_AUTH_AUDIENCE],
          exp: now + life / 1000,
        }),
    });
    await writeFile(join(directory, "next"), signed);
    await rename(join(directory, "next"), join(directory, "token"));
    renewed++;
  };
  await renew();
  const timer = setInterval(() => void renew(), renewal);
  return {
    directory,
    issuer: issuer.issuer.url ?? "",
    account: account?.name,
    renewed: () => renewed,
    async stop() {
      clearInterval(timer);
      await issuer.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export interface Job {
  readonly snippet: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Directories of this machine for those that the program mounts in Ray's pods. */
  readonly mounts: Readonly<Record<string, string>>;
  readonly seconds: number;
}

/**
 * Runs the program of a stack whose identities have no rights on the bucket. Ray's pods have the stack's environment, module and
 * a token of their account that ends every half minute. On MinIO, which refuses what a lent credential does not permit.
 * @param run runs the program to its end. @returns its faults
 * @returns its faults and what was seen, or what is missing.
 */
export async function runByCatalog(
  run: (job: Job) => Promise<readonly string[]>,
  log: (line: string) => void,
): Promise<{ readonly faults: readonly string[]; readonly seen: string } | { readonly missing: string }> {
  const minio = await startMinio(log);
  if (minio.base === undefined) return { missing: minio.missing };
  const { data, snippet, workerUri } = await catalogStack();
  const pod = await podDirectory(data);
  try {
    const service = await startReadyServiceProcess({
      tokens: [staticToken("person", token, scopesOf.write)],
      environment: {
        LAKEHEAD_DATABASE: minio.uri,
        LAKEHEAD_STORAGE_OPTIONS: JSON.stringify(minio.storageOptions),
        LAKEHEAD_WRITES: "on",
        LAKEHEAD_QUEUE_SECONDS: "120",
        LAKEHEAD_VENDING: "assume-role",
        LAKEHEAD_VENDING_ROLE: "arn:aws:iam::123456789012:role/lakehead-vending",
        LAKEHEAD_AUTH_CLUSTER_ISSUER: pod.issuer,
        LAKEHEAD_AUTH_SERVICE_ACCOUNTS: data.LAKEHEAD_AUTH_SERVICE_ACCOUNTS ?? "",
        LAKEHEAD_AUTH_AUDIENCE: data.LAKEHEAD_AUTH_AUDIENCE ?? "",
      },
    });
    try {
      const ended = await run({
        // A name of the cluster resolves nowhere else.
        snippet: snippet.replace(workerUri, service.base),
        environment: { LAKEHEAD_URL: service.base, LAKEHEAD_TOKEN: token },
        mounts: { "/var/run/lakehead": pod.directory },
        seconds: 480,
      });
      const lent = [...service.output().matchAll(/^.*"credentials lent".*$/gm)].map(([line]) => line);
      const toPods = lent.filter((line) => line.includes(pod.account ?? "no account")).length;
      return {
        faults: [...ended, ...(toPods > 0 ? [] : ["no credentials were lent to the account of Ray's pods"])],
        seen: `${lent.length} credentials lent, ${toPods} to the account of Ray's pods, whose token was renewed ${pod.renewed()} times`,
      };
    } finally {
      await service.stop();
    }
  } finally {
    await pod.stop();
    await minio.stop();
  }
}
