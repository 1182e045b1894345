import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // Native add-ons crash worker threads (vitest#5047).
    pool: "forks",
    // Half the suite waits for processes of its own, and loading the SDKs anew for each file would cost as much again.
    maxWorkers: "100%",
    isolate: false,
    reporters: ["default", "./test/support/summary-reporter.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // On a shared machine a test of real processes may meet a bad second: it is run once more, and the report says so.
    retry: process.env.CI === undefined ? 0 : 1,
    projects: [
      {
        extends: true,
        test: {
          name: "service",
          include: ["test/{service,acceptance,hostile}/**/*.test.ts"],
          globalSetup: ["test/support/global-setup.ts"],
        },
      },
      { extends: true, test: { name: "infra", include: ["test/{infra,docs}/**/*.test.ts", "test/*.test.ts"] } },
      // What needs more than npm: not part of `npm test`.
      { extends: true, test: { name: "stores", include: ["test/stores/**/*.test.ts"], testTimeout: 120_000 } },
    ],
  },
});
