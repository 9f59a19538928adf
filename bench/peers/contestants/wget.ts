/**
 * GNU Wget of Debian: recursive, links of `a` and `area` alone, no limit of depth, robots.txt on, no delay. It has one
 * connection and no more can be asked for. Pages are written to the disk, from where it reads them again for links.
 */
import { join } from 'node:path'
import type { Contestant } from '../contestant.ts'
import { unpackPackages } from '../debian.ts'

export const wget: Contestant = {
  name: 'wget',
  setUp({ home, url, out }) {
    const unpacked = unpackPackages(join(home, 'wget'), ['wget'])
    if (typeof unpacked === 'string') return unpacked
    const words = ['--recursive', '--level=inf', '--follow-tags=a,area', '--no-verbose', '--no-config', '--no-proxy']
    return {
      program: unpacked.path('usr/bin/wget'),
      words: [...words, `--output-file=${join(out, 'log')}`, `--directory-prefix=${out}`, url],
      env: unpacked.env,
    }
  },
}
