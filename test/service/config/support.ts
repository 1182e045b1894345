import { readConfig } from "../../../service/config/config.ts";
import { ConfigError } from "../../../service/config/environment.ts";

export type Environment = Readonly<Record<string, string>>;

/** The faults of an environment; none where it can be used. */
export const faultsOf = (environment: Environment): readonly string[] => {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
};
