/**
 * Tiptoe from this clone, with every promise on: robots.txt, the pace gate and its audit, the frontier on disk, records
 * committed with it. `links only` writes records without reading what pages say; `everything on` is what a user gets
 * who asks for nothing: records, Markdown, tokens, fingerprints, copies found. 32 requests at once, no delay.
 */
import { join } from 'node:path'
import { LAUNCHER, REPOSITORY } from '../../support/child.ts'
import { CONCURRENCY, type Contestant } from '../contestant.ts'

export const LINKS_ONLY = 'Tiptoe links only'

const modes = { [LINKS_ONLY]: ['--format', 'jsonl', '--no-content'], 'Tiptoe everything on': [] }

export const tiptoe: readonly Contestant[] = Object.entries(modes).map(([name, mode]) => ({
  name,
  setUp({ url, out }) {
    const pace = ['--delay', '0', '--per-host', String(CONCURRENCY), '--concurrency', String(CONCURRENCY)]
    const place = ['--out', join(out, 'crawl'), '--allow-address', '127.0.0.0/8']
    const words = [join(REPOSITORY, LAUNCHER), url, '--quiet', ...place, ...pace, ...mode]
    return { program: process.execPath, words }
  },
}))
