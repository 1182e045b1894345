import { isDeepStrictEqual } from "node:util";
import { scopesOf } from "../../service/catalog/rights.ts";
import { startMinio } from "../stores/minio.ts";
import { clients, operationsOf } from "../stores/token-alone/matrix.ts";
import { inPython } from "../stores/token-alone/programs.ts";
import { life, personsParameters, serveTables, slow, startStore } from "../stores/token-alone/stores.ts";
import { catalogStack, podDirectory } from "../support/infra/pod.ts";
import { startReadyServiceProcess } from "../support/service-process.ts";
import { staticToken } from "../support/static-token.ts";

const token = "token-of-the-person-who-runs-it";

export interface Job {
  readonly snippet: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Directories of this machine for those that the program mounts in Ray's pods. */
  readonly mounts: Readonly<Record<string, string>>;
  readonly seconds: number;
}

type Judged = { readonly faults: readonly string[]; readonly seen: string } | { readonly missing: string };

/**
 * Runs the program of a stack whose identities have no rights on the bucket. Ray's pods have the stack's environment, module and
 * a token of their account that ends every half minute. On MinIO, which refuses what a lent credential does not permit.
 * @param run runs the program to its end. @returns its faults
 * @returns its faults and what was seen, or what is missing.
 */
export async function runByCatalog(
  run: (job: Job) => Promise<readonly string[]>,
  log: (line: string) => void,
): Promise<Judged> {
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
        ...pod.accepted,
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

/** The client does what the matrix says of it, also where its credentials end during a write. */
export async function operationsByCatalog(python: string, log: (line: string) => void): Promise<Judged> {
  const store = await startStore.S3(log);
  if ("missing" in store) return store;
  try {
    const service = await serveTables(store);
    store.lend?.(life);
    try {
      const done = await inPython(python, "geneva", slow, personsParameters(service.base));
      const { opened, late } = store.lent?.() ?? { opened: 0, late: 0 };
      return {
        faults: [
          ...(isDeepStrictEqual(done, operationsOf(clients.geneva)) ? [] : [`it did ${done.join("; ")}`]),
          ...(opened > 4 ? [] : [`${opened} credentials were lent`]),
          ...(late === 0 ? [] : [`${late} requests came with a credential that had ended`]),
        ],
        seen: `${done.length} operations, ${opened} credentials`,
      };
    } finally {
      await service.stop();
    }
  } finally {
    await store.stop();
  }
}
