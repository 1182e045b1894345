import type { Reporter, TestModule } from "vitest/node";

/**
 * Ends a run with one plain line, `N passed, N failed, N skipped`, that a script can read, after everything that teardown
 * prints. Lists before it each test that passed only when retried, with the error of its first try.
 */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    const retried: string[] = [];
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state, errors = [] } = test.result();
        count[state]++;
        if (test.diagnostic()?.flaky)
          retried.push(
            `  ${module.relativeModuleId} > ${test.fullName}\n    ${errors[0]?.message ?? "no error recorded"}`,
          );
      }
      // A file that failed to load has no tests.
      if (module.errors().length > 0) count.failed++;
    }
    const failed = count.failed + unhandledErrors.length;
    const list = retried.length === 0 ? "" : `\nPassed only when retried:\n${retried.join("\n")}\n`;
    process.once("exit", () => {
      process.stdout.write(
        `${list}\n${count.passed} passed, ${failed} failed, ${count.skipped + count.pending} skipped\n`,
      );
    });
  }
}
