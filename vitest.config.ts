import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

// Workers of vitest and the processes that tests start load the same packages a hundred times: Node keeps them compiled.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), "lakehead-compile-cache");

/** Tests that run the Pulumi program. */
const programTests = ["test/infra/{program,offline-plan,kubernetes,aws,gcp,bootstrap}/**/*.test.ts"];

export default defineConfig({
  test: {
    // Native add-ons crash worker threads (vitest#5047).
    pool: "forks",
    // More than CPUs, because some tests wait for timers and child processes.
    maxWorkers: availableParallelism() + 1,
    // Loading the SDKs again for each file would double the time.
    isolate: false,
    reporters: ["default", "./test/support/summary-reporter.ts"],
    // No test needs another one before it. The seed is fixed, so that a failure can be repeated; another one: --sequence.seed.
    sequence: { shuffle: { tests: true }, seed: 1 },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Tests of real processes may fail on a loaded machine. This is the only level of retry; the summary lists each use.
    retry: process.env.CI === undefined ? 0 : 1,
    projects: [
      {
        extends: true,
        test: {
          name: "service",
          include: ["test/{service,acceptance,hostile}/**/*.test.ts"],
          exclude: ["**/*.long.test.ts"],
          globalSetup: ["test/support/global-setup.ts"],
        },
      },
      {
        extends: true,
        test: { name: "infra", include: ["test/{infra,docs}/**/*.test.ts", "test/*.test.ts"], exclude: programTests },
      },
      // Each of its plans takes seconds of CPU, so it is not part of `npm test`.
      { extends: true, test: { name: "plans", include: programTests } },
      // Needs Chromium: see test/console/main.ts.
      {
        extends: true,
        test: {
          name: "console",
          include: ["test/console/**/*.test.ts"],
          globalSetup: ["test/console/tables.ts"],
          testTimeout: 120_000,
          // A page waits for the service, as Playwright's own waits do.
          expect: { poll: { timeout: 10_000 } },
        },
      },
      // Takes too long for `npm test`.
      {
        extends: true,
        test: {
          name: "long",
          include: ["test/**/*.long.test.ts"],
          globalSetup: ["test/support/global-setup.ts"],
          testTimeout: 120_000,
        },
      },
      // Needs Ray: see test/functions/runner.test.ts.
      { extends: true, test: { name: "functions", include: ["test/functions/**/*.test.ts"], testTimeout: 180_000 } },
      // Needs more than npm, so it is not part of `npm test`.
      { extends: true, test: { name: "stores", include: ["test/stores/**/*.test.ts"], testTimeout: 120_000 } },
    ],
  },
});
