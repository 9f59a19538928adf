/**
 * Names that are not meant well: paths that would leave the folder, or that a file system takes for something else, and
 * titles that would run in a terminal. Every page has a file of its own inside the folder, and every screen stays text.
 */
import { readdirSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readOutput } from '../support/crawl-output.ts'
import type { LoopbackWeb } from '../support/loopback-web.ts'
import { reach, runTiptoe, temporaryFolder, type Ending } from '../support/program.ts'
import { sideBySide } from '../support/side-by-side.ts'

const PATHS = [
  [
    '/../../x',
    '/..%2f..%2fx',
    '/%2e%2e/%2e%2e/x',
    '/%2e%2e%2f%2e%2e%2fx',
    '/..\\..\\x',
    '/..%5c..%5cx',
    '/%252e%252e%252fx',
  ],
  [
    '/a%00b',
    '/%00',
    '/CON',
    '/con.html',
    '/NUL.txt',
    '/aux/',
    '/com1',
    '/LPT9.md',
    '/a:b',
    '/a%3a$DATA',
    '/...',
    '/..;/x',
  ],
  [
    '/.hidden',
    '/.git/config',
    '/-rf',
    '/~root',
    '/a//b',
    '/a///',
    '/%0d%0aX',
    '/%1b%5b31m',
    '/%c2%9b31m',
    '/%7f',
    '/a%2fb',
  ],
  ['/A', '/a', '/%41', '/index', '/index.md', '/index.md/', '/x.md', '/x.md/y', '/x', '/x/', '/x.md.part', '/x.part'],
  [
    '/e%CC%81',
    '/%C3%A9',
    '/ı',
    '/İ',
    '/ß',
    '/ẞ',
    '/%E2%80%AE%E2%80%8B',
    '/%F0%9F%98%80',
    '/%ff%fe',
    '/%EF%BC%8E%EF%BC%8E',
  ],
  ['/*?x=<>|"', '/%2a%3f%3c%3e%7c%22', '/?../../x', '/trail./x', '/trail%20/x', '/%20', '/$(touch%20x)', '/`id`'],
  [`/${'x'.repeat(5000)}`, `/${'y/'.repeat(2000)}`, `/${'%F0%9F%98%80'.repeat(200)}`],
].flat()
/** Colours, the clipboard, the title, C1 twins of all these, backspaces, an override, isolates, tags, a device string. */
const SPELL =
  '\x1b[31mRED\x1b]52;c;ZXZpbA==\x07\x1b]0;x\x07\u009b31mC1\u009d0;x\u009c\x08\x08\x7f\u202eOVER\u2066IN\u2069\u200b\u{e0041}\x1bP1$r\x1b\\'
/** Line ends and tabs are all that a screen may get beside words. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u

const { webOf } = sideBySide()
const folder = temporaryFolder()
const out = join(folder.path, 'out')
let web: LoopbackWeb
let ending: Ending

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')

beforeAll(async () => {
  web = await webOf({
    'a.test': ({ path, query }) => {
      if (path === '/robots.txt') return { body: `User-agent: *\nDisallow: /no${SPELL}\nSitemap: http://${SPELL}/\n` }
      if (path === '/gone') return { status: 404 }
      if (path === '/away') return { status: 302, headers: { location: 'javascript:\u009b31m' } }
      if (path === '/coded') return { headers: { 'content-encoding': 'x\u009b31m' }, body: 'x' }
      const links = [...PATHS, `/gone?${SPELL}`, '/away', '/coded', '/no'].map(
        (link) => `<a href="${escaped(link)}">${SPELL}</a>`,
      )
      return {
        headers: { 'content-type': 'text/html; charset=utf-8' },
        body: `<title>${SPELL}</title><meta name=description content="${SPELL}"><h1>${SPELL} ${path}${query}</h1>${links.join('')}`,
      }
    },
  })
  const words = [
    web.url('a.test'),
    '-o',
    out,
    '-v',
    '--scope',
    'host',
    '--format',
    'jsonl,markdown,html',
    '--record-links',
  ]
  ending = await runTiptoe([...words, '--delay', '0s', '--attempts', '1', '--no-traps', ...reach(web)])
}, 60_000)
afterAll(() => folder.remove())

describe('names that are not meant well', () => {
  test('each page has a file of its own, inside the folder', () => {
    expect(ending.code).toBe(0)
    const { pages } = readOutput(out)
    expect(pages.length).toBeGreaterThan(50)
    const paths = pages.flatMap(({ markdownPath, htmlPath }) => [markdownPath ?? '', htmlPath ?? ''])
    // Also where case and the form of accents make no difference.
    expect(new Set(paths.map((path) => path.normalize('NFKC').toLowerCase())).size).toBe(2 * pages.length)
    for (const path of paths) {
      expect(relative(join(out, 'content'), resolve(out, path))).not.toMatch(/^\.\./)
      expect(statSync(join(out, path)).isFile()).toBe(true)
    }
    expect(readdirSync(folder.path)).toEqual(['out'])
    const names = readdirSync(out, { recursive: true, encoding: 'utf8' })
    expect(names.filter((name) => CONTROL.test(name) || name.endsWith('.part'))).toEqual([])
  })

  test('no screen runs what a page says, nor what it is called', async () => {
    const url = web.url('a.test')
    const screens = [ending]
    for (const words of [
      ['status', out],
      ['why', url, out],
      ['why', `${url}gone?${SPELL}`, out],
      ['fetch', url, '--json', ...reach(web)],
      ['robots', url, ...reach(web)],
    ]) {
      screens.push(await runTiptoe(words))
    }
    for (const { stdout, stderr } of screens) expect(stdout + stderr).not.toMatch(CONTROL)
    expect(screens.some(({ stdout }) => stdout.includes('\\x1b[31mRED'))).toBe(true)
  }, 60_000)
})
