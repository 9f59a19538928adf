/**
 * spider-rs of npm, the Rust crawler behind a Node module: robots.txt on, no delay, no limit of depth. Its module has no
 * word for the number of requests at once; it takes its own. The version is the last that came with programs.
 */
import { join } from 'node:path'
import type { Contestant } from '../contestant.ts'
import { installModules } from '../npm-modules.ts'

const VERSION = '0.0.157'

export const spider: Contestant = {
  name: 'spider-rs',
  setUp({ home, url }) {
    const modules = join(home, 'spider-rs')
    const failed = installModules(modules, { '@spider-rs/spider-rs': VERSION })
    if (failed !== undefined) return failed
    return {
      program: process.execPath,
      words: [join(import.meta.dirname, 'spider-crawler.mjs'), modules, url],
    }
  },
}
