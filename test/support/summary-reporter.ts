import type { Reporter, TestModule } from "vitest/node";

/**
 * Ends a run with one plain line, `N passed, N failed, N skipped`, after everything that teardown prints: the line that
 * a script can read without knowing the runner.
 */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state]++;
      // A file that could not even be loaded has no tests to fail.
      if (module.errors().length > 0) count.failed++;
    }
    const failed = count.failed + unhandledErrors.length;
    process.once("exit", () => {
      process.stdout.write(`\n${count.passed} passed, ${failed} failed, ${count.skipped + count.pending} skipped\n`);
    });
  }
}
