/**
 * GNU Wget2 of Debian: recursive, links of `a` and `area` alone, no limit of depth, robots.txt on, no delay, 32
 * threads. Pages are written to the disk.
 */
import { join } from 'node:path'
import { CONCURRENCY, type Contestant } from '../contestant.ts'
import { unpackPackages } from '../debian.ts'

export const wget2: Contestant = {
  name: 'wget2',
  setUp({ home, url, out }) {
    const unpacked = unpackPackages(join(home, 'wget2'), ['wget2'])
    if (typeof unpacked === 'string') return unpacked
    const words = [
      '--recursive',
      '--level=inf',
      '--follow-tags=a/href,area/href',
      '--no-config',
      '--quiet',
      '--no-proxy',
    ]
    return {
      program: unpacked.path('usr/bin/wget2'),
      words: [...words, `--max-threads=${CONCURRENCY}`, `--directory-prefix=${out}`, url],
      env: unpacked.env,
    }
  },
}
