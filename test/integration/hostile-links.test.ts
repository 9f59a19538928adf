/**
 * A folder that comes from somebody else may hold links that lead out of it. The program goes on with no crawl through
 * one: it says which it is, and what lies behind it stays as it was.
 */
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LoopbackWeb } from '../support/loopback-web.ts'
import { reach, runTiptoe, temporaryFolder, type Ending } from '../support/program.ts'
import { page, sideBySide } from '../support/side-by-side.ts'

const { webOf } = sideBySide()
const folder = temporaryFolder()
const begun = join(folder.path, 'begun')
const out = join(folder.path, 'out')
const outside = join(folder.path, 'outside')
let web: LoopbackWeb
const MANY_LINKS = page(...Array.from({ length: 30 }, (_, at) => `/p${at}`))
const QUICK = ['--delay', '0s', '--format', 'jsonl,markdown,warc']

beforeAll(async () => {
  web = await webOf({ 'a.test': ({ path }) => (path === '/robots.txt' ? { status: 404 } : MANY_LINKS) })
  const words = [web.url('a.test'), '-o', begun, '--max-pages', '5', ...QUICK, ...reach(web)]
  await runTiptoe(words)
}, 60_000)
afterAll(() => folder.remove())

const goOn = (): Promise<Ending> => runTiptoe(['-o', out, '--max-pages', '20', ...QUICK, ...reach(web)])

/** All that is outside: each path with its size and content. */
const seen = (): unknown[] =>
  readdirSync(outside, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const path = join(outside, name)
      return statSync(path).isFile() ? [name, readFileSync(path, 'latin1')] : name
    })

describe('nothing is written through a link', () => {
  const moved = ['content', 'content/a.test_PORT', 'archive', 'archive/index.cdxj', 'state', 'state/crawl.db']
  moved.push('state/lock.db', 'state/seen', 'state/fingerprints', 'pages.jsonl', 'stats.json', 'crawl.yaml')
  test.each(moved)(
    '%s',
    async (name) => {
      for (const path of [out, outside]) rmSync(path, { recursive: true, force: true })
      cpSync(begun, out, { recursive: true })
      mkdirSync(outside)
      const path = join(out, name.replace('PORT', new URL(web.url('a.test')).port))
      renameSync(path, join(outside, 'moved'))
      symlinkSync(join(outside, 'moved'), path)
      const before = seen()
      const { code, stderr } = await goOn()
      expect([code, stderr]).toEqual([3, expect.stringContaining('is a link')])
      expect(seen()).toEqual(before)
    },
    60_000,
  )

  test.each(['stats.json.part', 'crawl.yaml.part'])(
    '%s',
    async (name) => {
      for (const path of [out, outside]) rmSync(path, { recursive: true, force: true })
      cpSync(begun, out, { recursive: true })
      mkdirSync(outside)
      writeFileSync(join(outside, 'victim'), 'kept')
      symlinkSync(join(outside, 'victim'), join(out, name))
      expect((await goOn()).code).toBe(4)
      expect(seen()).toEqual([['victim', 'kept']])
    },
    60_000,
  )
})
