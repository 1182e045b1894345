/** What the provider of images refuses. Nothing is built. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Cloud, type Refusal, valuesAt } from "./cloud.ts";

const image = "docker-build:index:Image";

const first = (inputs: Parameters<Refusal>[0]["inputs"], path: string): unknown => valuesAt(inputs, path)[0];

/** The provider resolves a relative place against its own working directory, which the engine chooses. */
const hasDockerfile: Refusal = ({ inputs }) => {
  const location = String(first(inputs, "context.location"));
  return existsSync(join(process.cwd(), location, "Dockerfile"))
    ? undefined
    : `"${location}" of ${process.cwd()}: there is no Dockerfile`;
};

const isPushed: Refusal = ({ inputs }) =>
  first(inputs, "exports.image.push") === true && valuesAt(inputs, "exports.image.names").length > 0
    ? undefined
    : "at least one tag or export name is needed when pushing to a registry";

const hasToken: Refusal = ({ inputs }) =>
  valuesAt(inputs, "registries.password").length > 0 ? undefined : "401 Unauthorized: the registry got no token";

export const imageBuilder = (): Cloud => ({
  sdk: "@pulumi/docker-build",
  references: {},
  refusals: { [image]: [hasDockerfile, isPushed, hasToken] },
  refusedUpdates: {},
  keeps: {},
  inherited: () => ({}),
  refuseConfiguration: () => undefined,
  onUpdate: {},
});
