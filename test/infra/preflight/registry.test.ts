/** The registry here is of this test, in the messages of the OCI Distribution Specification 1.1 and Docker's token flow. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseImage } from "../../../infra/model/image-name.ts";
import { readRegistryImage } from "../../../infra/preflight/registry.ts";

let server: Server;
let host: string;
const index = {
  manifests: [
    { platform: { os: "linux", architecture: "amd64" } },
    { platform: { os: "linux", architecture: "arm64" } },
    { platform: { os: "unknown", architecture: "unknown" } },
  ],
};
const bodies: Readonly<Record<string, unknown>> = {
  "/v2/team/app/manifests/many": index,
  "/v2/team/app/manifests/one": { config: { digest: "sha256:c0ffee" } },
  "/v2/team/app/blobs/sha256:c0ffee": { architecture: "arm64", os: "linux" },
};

beforeAll(async () => {
  server = createServer((request, response) => {
    const url = new URL(request.url ?? "", `http://${host}`);
    if (url.pathname === "/token") {
      const isPublic = url.searchParams.get("scope") === "repository:team/app:pull";
      response.writeHead(isPublic ? 200 : 401).end(JSON.stringify({ token: "anonymous" }));
    } else if (request.headers.authorization !== "Bearer anonymous") {
      const scope = `repository:${/^\/v2\/(.+)\/(manifests|blobs)\//.exec(url.pathname)?.[1]}:pull`;
      const challenge = `Bearer realm="http://${host}/token",service="registry",scope="${scope}"`;
      response.writeHead(401, { "www-authenticate": challenge }).end();
    } else {
      const body = bodies[url.pathname];
      response.writeHead(body === undefined ? 404 : 200).end(JSON.stringify(body));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

test("an index names its architectures, without attestations", async () => {
  const found = await readRegistryImage(`${host}/team/app:many`);
  expect(found).toEqual({ value: { architectures: ["amd64", "arm64"], configDigest: undefined } });
});

test("the architecture of a single manifest is in its configuration", async () => {
  const found = await readRegistryImage(`${host}/team/app:one`);
  expect(found).toEqual({ value: { architectures: ["arm64"], configDigest: "sha256:c0ffee" } });
});

test("an image that the registry does not have is undefined", async () => {
  expect(await readRegistryImage(`${host}/team/app:gone`)).toEqual({ value: undefined });
});

test("a private repository is a failure, not a missing image", async () => {
  const found = await readRegistryImage(`${host}/team/private:1`);
  expect(found).toEqual({ failure: expect.stringContaining("requires credentials") });
});

test("a registry that cannot be reached is a failure with the cause", async () => {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const found = await readRegistryImage(`127.0.0.1:${port}/team/app:1`);
  expect(found).toEqual({ failure: expect.stringContaining("ECONNREFUSED") });
});

test.each([
  ["rayproject/ray:2.56.0-py312", "registry-1.docker.io", "rayproject/ray", "2.56.0-py312"],
  ["ubuntu", "registry-1.docker.io", "library/ubuntu", "latest"],
  ["ghcr.io/team/app@sha256:abc", "ghcr.io", "team/app", "sha256:abc"],
  ["localhost:5000/app:1@sha256:abc", "localhost:5000", "app", "sha256:abc"],
])("%s is split as Docker splits it", (image, registry, repository, reference) => {
  expect(parseImage(image)).toEqual({ registry, repository, reference });
});
