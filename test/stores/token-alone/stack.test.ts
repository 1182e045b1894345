import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { catalogStack, podDirectory } from "../../support/infra/pod.ts";
import type { ServiceProcess } from "../../support/service-process.ts";
import { sendTo } from "../forward.ts";
import { clients, operationsOf } from "./matrix.ts";
import { clientsPython, inPython } from "./programs.ts";
import { type Place, serveTables, startStore } from "./stores.ts";

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const python = await clientsPython(print);

describe("the output `catalogParameters` of a stack, in a pod of Ray", () => {
  let pod: Awaited<ReturnType<typeof podDirectory>>;
  let store: Place | { readonly missing: string };
  let service: ServiceProcess | undefined;
  let stack: Awaited<ReturnType<typeof catalogStack>>;
  /** In place of the cluster's resolver: a proxy that knows the service's address in the cluster. */
  let cluster: Server;
  let asked = 0;

  beforeAll(async () => {
    [stack, store] = await Promise.all([catalogStack(), startStore.S3(print)]);
    pod = await podDirectory(stack.data);
    if ("missing" in store) return;
    service = await serveTables(store, pod.accepted);
    const send = sendTo(service.base);
    cluster = createServer(async (request, response) => {
      const { host, pathname, search } = new URL(request.url ?? "", "http://nowhere");
      // Ray looks for the metadata of a cloud, too.
      if (host !== new URL(stack.parameters.namespace_properties.uri).host) return response.writeHead(404).end();
      asked++;
      const answer = await send(request.method ?? "GET", pathname + search, request.headers, await buffer(request));
      response.writeHead(answer.status, { "content-length": answer.body.byteLength, ...answer.headers });
      return response.end(answer.body);
    });
    await new Promise<void>((resolve) => cluster.listen(0, "127.0.0.1", resolve));
  }, 120_000);
  afterAll(async () => {
    cluster?.close();
    await service?.stop();
    await pod.stop();
    if (!("missing" in store)) await store.stop();
  });

  test("are arguments of lance-ray, which writes and reads with the token of the pod's account", async ({ skip }) => {
    const lacks = "missing" in store ? store.missing : python.missing;
    if (lacks !== undefined) print(`skipped: lance-ray with a stack's parameters, because ${lacks} is missing`);
    if (service === undefined || python.python === undefined) return skip();
    const done = await inPython(python.python, "lance-ray", 0, stack.parameters, {
      PYTHONPATH: pod.directory,
      LAKEHEAD_TOKEN_FILE: `${pod.directory}/token`,
      http_proxy: `http://127.0.0.1:${(cluster.address() as AddressInfo).port}`,
      no_proxy: "127.0.0.1",
    });
    expect(done).toEqual(operationsOf(clients["lance-ray"]));
    expect(asked).toBeGreaterThan(0);
    expect(service.output()).toContain(pod.account ?? "no account");
  }, 420_000);
});
