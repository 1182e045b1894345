import { removeStrayOptions } from "../../service/lance/environment.ts";
import { makeTestDatabase } from "../../tools/parts/database.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service-process.ts";
import { staticToken } from "../support/static-token.ts";

// The test runner sets BASE_URL, which the SDK of this process would take for Google's address.
removeStrayOptions(process.env);

/** May read the statistics of the table `plain`, and nothing else. */
export const plainStatsToken = "token-for-the-statistics-of-plain";

/** Where a database lives. */
export interface Place {
  readonly uri: string;
  readonly storageOptions: Readonly<Record<string, string>>;
}

/** Writes the test tables with the SDK itself, by the same address and options that the service gets. */
export const fill = ({ uri, storageOptions }: Place): Promise<void> => makeTestDatabase(uri, storageOptions);

/**
 * A place whose store may take its time, for suites that are about right answers: on a machine that does much else the
 * servers of this test may well need the four seconds after which the service gives up.
 */
export const unhurried = ({ uri, storageOptions }: Place): Place => ({
  uri,
  storageOptions: { ...storageOptions, read_timeout: "60s", timeout: "60s" },
});

/** The service on a place, configured by its environment alone, not yet ready. */
export const serve = (
  { uri, storageOptions }: Place,
  environment: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> =>
  startServiceProcess({
    tokens: [staticToken("plain-stats", plainStatsToken, ["stats"], ["plain"])],
    environment: {
      LAKEHEAD_DATABASE: uri,
      LAKEHEAD_STORAGE_OPTIONS: JSON.stringify(storageOptions),
      LAKEHEAD_ANALYZE_CONCURRENCY: "1",
      LAKEHEAD_QUEUE_SECONDS: "60",
      // What a pod may have for reasons of its own; the SDK would take each for a storage option.
      BASE_URL: "http://127.0.0.1:1",
      ENDPOINT_URL: "http://127.0.0.1:1",
      TOKEN: "stray",
      SKIP_SIGNATURE: "perhaps",
      ...environment,
    },
  });
