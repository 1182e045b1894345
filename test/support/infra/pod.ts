import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OAuth2Server } from "oauth2-mock-server";
import { manifests } from "../../infra/kubernetes/manifests.ts";
import { runStack } from "./stacks.ts";

/** Life of a pod's token, and time after which its file has another one, in milliseconds. The kubelet takes an hour. */
const life = 30_000;
const renewal = 10_000;

interface CatalogParameters {
  readonly namespace_impl: string;
  readonly namespace_properties: { readonly uri: string };
}

/** What the stack gcp-dev makes where the table service opens the tables. */
export async function catalogStack() {
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
  const outputs = capture.resources.find(({ kind }) => kind === "stack")?.outputs;
  const snippet = String(outputs?.clientSnippet);
  const [, workerUri = ""] = /"worker_uri": "(.*)"/.exec(snippet) ?? [];
  const parameters = outputs?.catalogParameters as unknown as CatalogParameters;
  return { data, snippet, workerUri, parameters };
}

/** A directory of a pod: the stack's module, and a token that is renewed. */
export async function podDirectory(data: Readonly<Record<string, string>>) {
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
    account: account?.name,
    /** Variables of the service that accepts the pod's token, as the stack sets them. */
    accepted: {
      LAKEHEAD_AUTH_CLUSTER_ISSUER: issuer.issuer.url ?? "",
      LAKEHEAD_AUTH_SERVICE_ACCOUNTS: data.LAKEHEAD_AUTH_SERVICE_ACCOUNTS ?? "",
      LAKEHEAD_AUTH_AUDIENCE: data.LAKEHEAD_AUTH_AUDIENCE ?? "",
    },
    renewed: () => renewed,
    async stop() {
      clearInterval(timer);
      await issuer.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
