/** Ends a test run with one plain line that any reader of logs understands: `N passed, N failed`. */
import type { Reporter, TestModule } from 'vitest/node'

export function closingLine(): Reporter {
  return {
    onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]) {
      const counts = { passed: 0, failed: errors.length, skipped: 0, pending: 0 }
      for (const module of modules) {
        // A file that could not be loaded has no tests to count, and has failed all the same.
        if (module.errors().length > 0) counts.failed += 1
        for (const test of module.children.allTests()) counts[test.result().state] += 1
      }
      const skipped = counts.skipped + counts.pending
      process.stdout.write(
        `${counts.passed} passed, ${counts.failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`,
      )
    },
  }
}
