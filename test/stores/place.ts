import { removeStrayOptions } from "../../service/lance/connection/environment.ts";
import { makeTestDatabase } from "../../tools/parts/database.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service-process.ts";
import { staticToken } from "../support/static-token.ts";

// The test runner sets BASE_URL, which the SDK in this process would read as Google's address.
removeStrayOptions(process.env);

/** May read the statistics of the table `plain`, and nothing else. */
export const plainStatsToken = "token-for-the-statistics-of-plain";

/** Location of a database. */
export interface Place {
  readonly uri: string;
  readonly storageOptions: Readonly<Record<string, string>>;
}

/** Writes the test tables with the SDK, with the address and options of the service. */
export const fill = ({ uri, storageOptions }: Place): Promise<void> => makeTestDatabase(uri, storageOptions);

/**
 * A place with long store timeouts, for suites that test responses: on a busy machine the store servers of the tests may
 * need more than the four seconds after which the service gives up.
 */
export const withLongTimeouts = ({ uri, storageOptions }: Place): Place => ({
  uri,
  storageOptions: { ...storageOptions, read_timeout: "60s", timeout: "60s" },
});

/** Starts the service on a place; it is not ready yet. */
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
      // Unrelated variables of a pod; the SDK would read each as a storage option.
      BASE_URL: "http://127.0.0.1:1",
      ENDPOINT_URL: "http://127.0.0.1:1",
      TOKEN: "stray",
      SKIP_SIGNATURE: "perhaps",
      ...environment,
    },
  });
