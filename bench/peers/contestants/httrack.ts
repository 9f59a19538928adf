/**
 * HTTrack of Debian: pages alone, robots.txt always, 32 connections, its limits of rate and of connections a second
 * taken away. Pages are rewritten and written to the disk.
 */
import { join } from 'node:path'
import { CONCURRENCY, type Contestant } from '../contestant.ts'
import { unpackPackages } from '../debian.ts'

export const httrack: Contestant = {
  name: 'HTTrack',
  setUp({ home, url, out }) {
    const unpacked = unpackPackages(join(home, 'httrack'), ['httrack'])
    if (typeof unpacked === 'string') return unpacked
    const filters = ['-*', `+${new URL(url).host}/*.html`, `+${new URL(url).host}/*.htm`, `+${new URL(url).host}/*/`]
    const pace = [`-c${CONCURRENCY}`, '--disable-security-limits', '-%c10000', '-A10000000000', '-%T0']
    return {
      program: unpacked.path('usr/bin/httrack'),
      words: [url, '-O', out, '-p1', '-s2', '-q', '-I0', '-r9999', ...pace, ...filters],
      env: unpacked.env,
    }
  },
}
