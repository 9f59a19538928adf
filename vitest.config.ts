import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { closingLine } from './test/support/closing-line.ts'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/support/redis/global-setup.ts'],
    setupFiles: ['test/support/compile-cache.ts', 'test/support/properties.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Most of the longer tests wait for processes of their own: on two cores, one at a time would leave one of them idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    reporters: ['default', closingLine()],
  },
})
