/**
 * Loaded before the crawler: the program runs from its sources, though what was put together of them is there. In that
 * there are no modules to be told apart in a profile, or to be taken away.
 */
import { registerHooks } from 'node:module'

registerHooks({
  resolve(specifier, context, next) {
    const isWhole = specifier.endsWith('/dist/start/main.js')
    return next(isWhole ? new URL('../../src/cli/main.ts', import.meta.url).href : specifier, context)
  },
})
