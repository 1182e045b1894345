import { loadConfig } from "../infra/config/load.ts";
import { bootstrapAws } from "./aws.ts";
import { bootstrapDefinition } from "./config.ts";
import { bootstrapGcp } from "./gcp.ts";
import { commandsOf } from "./github.ts";

/** What the first `up` and the workflows need: state bucket, keys of the secrets, identities of the GitHub environments. */
export default function bootstrap() {
  const { config } = loadConfig(bootstrapDefinition);
  const made = config.cloud === "aws" ? bootstrapAws(config) : bootstrapGcp(config);
  return {
    environments: made.apply(({ setUp }) => setUp.variables),
    deployerCredentials: made.apply(({ deployerCredentials }) => deployerCredentials),
    stackKeys: made.apply(({ stackKeys }) => stackKeys),
    commands: made.apply(({ setUp }) => commandsOf(setUp)),
  };
}
