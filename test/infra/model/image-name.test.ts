import { describe, expect, test } from "vitest";
import { dockerHubRepositories, throughCache } from "../../../infra/model/image-name.ts";

const cache = "registry.lake.dev/hub";
const digest = `sha256:${"0".repeat(64)}`;

describe("an image by way of a cache of Docker Hub", () => {
  test.each([
    ["rayproject/ray", `${cache}/rayproject/ray`],
    ["rayproject/ray:2.56.0-py312", `${cache}/rayproject/ray:2.56.0-py312`],
    ["docker.io/rayproject/ray:1", `${cache}/rayproject/ray:1`],
    ["node:26", `${cache}/library/node:26`],
    [`node:26@${digest}`, `${cache}/library/node:26@${digest}`],
    ["quay.io/kuberay/operator:v1", "quay.io/kuberay/operator:v1"],
    ["localhost/lakehead:1", "localhost/lakehead:1"],
    ["registry.lake.dev:5000/ray:1", "registry.lake.dev:5000/ray:1"],
  ])("%s is %s", (image, expected) => {
    expect(throughCache(image, cache)).toBe(expected);
    expect(throughCache(image, undefined)).toBe(image);
  });

  test("is of a repository that is listed once, without those of other registries", () => {
    expect(
      dockerHubRepositories(["rayproject/ray", undefined, "docker.io/rayproject/ray:1", "node:26", "quay.io/a/b:1"]),
    ).toEqual(["rayproject/ray", "library/node"]);
  });
});
