/**
 * Loaded before the crawler: takes away the parts that BENCH_WITHOUT names and that no option of the crawler switches
 * off, so that their cost shows. The crawler itself knows nothing of it.
 *
 * Parts are modules, so the program has to run from its sources (from-sources.ts), and in the thread that loads this: a
 * crawl without some part is one with `--threads 0`. A part that was not there to be taken away ends the program with an
 * exit code of its own: a figure would mean nothing then.
 */
import fs from 'node:fs'
import { registerHooks, syncBuiltinESMExports } from 'node:module'
import { DatabaseSync } from 'node:sqlite'

/** Exit code when nothing was found to take away. */
const NOT_FOUND = 70

const removed = new Map<string, boolean>()

/** What is written stays with the operating system: a power cut could lose it. */
function durability(): void {
  const ignore = (): void => void removed.set('durability', true)
  Object.assign(fs, { fdatasyncSync: ignore, fsyncSync: ignore })
  syncBuiltinESMExports()
  const { exec } = DatabaseSync.prototype
  DatabaseSync.prototype.exec = function (sql) {
    exec.call(this, sql.replaceAll('synchronous = FULL', 'synchronous = OFF'))
  }
}

/** Whoever imports the one file is given the other, which may itself import the first. */
function replacement(name: string, file: string, by: string): () => void {
  const stand = new URL(by, import.meta.url).href
  return () => {
    registerHooks({
      resolve(specifier, context, next) {
        const found = next(specifier, context)
        if (!found.url.endsWith(file) || context.parentURL === stand) return found
        removed.set(name, true)
        return { ...found, url: stand }
      },
    })
  }
}

const REMOVALS: Readonly<Record<string, () => void>> = {
  durability,
  audit: replacement('audit', '/src/politeness/audit.ts', './blind-audit.ts'),
  simhash: replacement('simhash', '/src/content/text/simhash.ts', './blank-simhash.ts'),
}

for (const name of (process.env['BENCH_WITHOUT'] ?? '').split(',').filter((name) => name !== '')) {
  removed.set(name, false)
  REMOVALS[name]?.()
}
process.on('exit', () => {
  const missing = [...removed].filter(([, done]) => !done).map(([name]) => name)
  if (missing.length === 0) return
  fs.writeSync(2, `not there to be taken away: ${missing.join(', ')}\n`)
  process.exitCode = NOT_FOUND
})
