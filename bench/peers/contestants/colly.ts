/**
 * Colly, in Go of Debian: asynchronous, robots.txt on (it is off unless asked for), 32 requests at once, no delay,
 * links of one host. Nothing is written. The module comes from Go's proxy, or, where that cannot be reached, from a
 * GOPATH with sources of Colly and of what it needs, which COLLY_GOPATH names.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { CONCURRENCY, type Contestant } from '../contestant.ts'
import { unpackPackages } from '../debian.ts'

/** The last that Go 1.19, which Debian 12 has, can compile. */
const MODULE = 'github.com/gocolly/colly/v2@v2.1.0'
const BUILD_MS = 180_000

export const colly: Contestant = {
  name: 'Colly',
  setUp({ home, url, host }) {
    const folder = join(home, 'colly')
    const program = join(folder, 'colly-crawler')
    const failed = existsSync(program) ? undefined : build(folder, program)
    return failed ?? { program, words: [url, host, String(CONCURRENCY)] }
  },
}

function build(folder: string, program: string): string | undefined {
  const packages = unpackPackages(join(folder, 'go'), ['golang-go'])
  if (typeof packages === 'string') return packages
  // Where the machine has Go, what it consists of was not unpacked.
  const root = packages.path('usr/lib/go')
  const isOwn = existsSync(join(root, 'bin/go'))
  const go = isOwn ? join(root, 'bin/go') : packages.program('go')
  if (go === undefined) return 'there is no go'
  const source = join(folder, 'source')
  rmSync(source, { recursive: true, force: true })
  mkdirSync(source, { recursive: true })
  cpSync(join(import.meta.dirname, 'colly-crawler.go'), join(source, 'main.go'))
  const sources = process.env['COLLY_GOPATH']
  const env = {
    ...process.env,
    ...(isOwn && { GOROOT: root }),
    GOCACHE: join(folder, 'cache'),
    GOPATH: sources ?? join(folder, 'gopath'),
    GO111MODULE: sources === undefined ? 'on' : 'off',
  }
  const modules = [
    ['mod', 'init', 'bench'],
    ['get', MODULE],
  ]
  for (const words of [...(sources === undefined ? modules : []), ['build', '-o', program, '.']]) {
    const ran = spawnSync(go, words, {
      cwd: source,
      env,
      encoding: 'utf8',
      timeout: BUILD_MS,
    })
    if (ran.status !== 0) return `go ${words.join(' ')}: ${ran.error?.message ?? ran.stderr.trim().split('\n').at(-1)}`
  }
  return undefined
}
