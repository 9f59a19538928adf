import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { parseRobots } from './index.ts'

/** Few letters, so that patterns and paths meet often. */
const text = (letters: string, maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...Array.from(letters)), { maxLength }).map((all) => all.join(''))

/** What a pattern means, said as plainly as can be: try every length for every star. */
function matchesNaively(pattern: string, path: string): boolean {
  if (pattern === '') return true
  if (pattern === '$') return path === ''
  if (pattern.startsWith('*')) {
    const rest = pattern.slice(1)
    for (let skip = 0; skip <= path.length; skip++) if (matchesNaively(rest, path.slice(skip))) return true
    return false
  }
  return pattern[0] === path[0] && path !== '' && matchesNaively(pattern.slice(1), path.slice(1))
}

const rule = fc.record({ allow: fc.boolean(), pattern: text('ab/*', 8), end: fc.constantFrom('', '$') })

describe('parseRobots', () => {
  it('agrees with a plain reading of patterns and precedence', () => {
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 6 }), text('ab/', 10), (rules, tail) => {
        const path = `/${tail}`
        const patterns = rules.map(({ allow, pattern, end }) => ({ allow, pattern: `/${pattern}${end}` }))
        const body = ['User-agent: *', ...patterns.map((r) => `${r.allow ? 'Allow' : 'Disallow'}: ${r.pattern}`)]
        const matching = patterns.filter((r) => matchesNaively(r.pattern, path))
        const longest = Math.max(...matching.map((r) => r.pattern.length))
        const expected = matching.length === 0 || matching.some((r) => r.allow && r.pattern.length === longest)
        // `//host/path` is a URL without a scheme, so the path is given with one.
        expect(parseRobots(body.join('\n')).check('bot', `http://h${path}`).allowed).toBe(expected)
      }),
      { numRuns: 3000 },
    )
  })

  it('finds pieces of any length', () => {
    // Periodic, so that they nearly match everywhere, and long enough that some are not left to `indexOf`.
    const long = fc
      .tuple(text('ab', 5), fc.integer({ min: 0, max: 70 }), text('ab', 3))
      .map(([part, times, end]) => part.repeat(times) + end)
    const plan = fc.array(fc.constantFrom('first', 'second', 'torn', 'noise'), { maxLength: 5 })
    fc.assert(
      fc.property(long, long, text('ab', 5), plan, (first, second, noise, parts) => {
        const path = parts.map((part) => ({ first, second, torn: first.slice(1), noise })[part]).join('')
        const at = path.indexOf(first)
        const isMatch = at >= 0 && path.includes(second, at + first.length)
        const robots = parseRobots(`User-agent: *\nDisallow: /*${first}*${second}`)
        expect(robots.check('bot', `/${path}`).allowed).toBe(!isMatch)
      }),
      { numRuns: 1000 },
    )
  })

  it('never throws, whatever the bytes, the name and the URL', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'binary' }),
        (body, name, url) => {
          const robots = parseRobots(body)
          expect(robots.check(name, url).allowed).toBeTypeOf('boolean')
          robots.crawlDelayMs(name)
        },
      ),
    )
  })

  it('never throws on what looks like a robots.txt, and names a line that exists', () => {
    const word = fc.constantFrom(
      'User-agent',
      'Disallow',
      'Allow',
      'Sitemap',
      'Crawl-delay',
      ':',
      ' ',
      '\t',
      '#',
      '*',
      '$',
      '/a',
      '%',
      '%2',
      '%2f',
      'ü',
      '\r',
      '\n',
      '\r\n',
      '\u0000',
      '?',
      '=',
      ':/',
    )
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 60 }),
        fc.constantFrom('/', '/a', '/a/a?=:/', '/%2F', '/ü*$'),
        (words, url) => {
          const body = words.join('')
          const verdict = parseRobots(`User-agent: *\n${body}`).check('a', url)
          if (verdict.line === null) {
            expect(verdict).toEqual({ allowed: true, line: null, rule: null })
          } else {
            expect(`User-agent: *\n${body}`.split(/\r\n|\r|\n/)[verdict.line - 1]?.trim()).toBe(verdict.rule)
          }
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('gives the same verdict for a file printed with other cases, blanks, comments and line ends', () => {
    const style = fc.record({
      end: fc.constantFrom('\n', '\r', '\r\n'),
      blank: fc.constantFrom('', ' ', '\t '),
      comment: fc.constantFrom('', '#x', ' # Disallow: /'),
      isUpper: fc.boolean(),
    })
    fc.assert(
      fc.property(
        fc.array(rule, { maxLength: 5 }),
        text('ab/', 8),
        style,
        (rules, tail, { end, blank, comment, isUpper }) => {
          const print = (name: string, value: string): string =>
            blank + (isUpper ? name.toUpperCase() : name) + blank + ':' + blank + value + blank + comment
          const records = rules.map((r): [string, string] => [r.allow ? 'Allow' : 'Disallow', `/${r.pattern}${r.end}`])
          const plain = [['User-agent', 'bot'] as const, ...records]
            .map(([name, value]) => `${name}: ${value}`)
            .join('\n')
          const styled = [print('User-agent', 'BOT'), ...records.map(([name, value]) => print(name, value))].join(end)
          const url = `http://h/${tail}`
          const { allowed, line } = parseRobots(plain).check('bot', url)
          expect(parseRobots(styled).check('Bot/1.0', url)).toMatchObject({ allowed, line })
        },
      ),
    )
  })

  it('sees no difference between a character and its encoding, unless it is reserved', () => {
    const char = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 4 })
      .filter((s) => !/[!-,/:;=?@[\]#$%*]/.test(s) && s.trim() === s)
    fc.assert(
      fc.property(char, (name) => {
        const encoded = Array.from(Buffer.from(name), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
        for (const written of [name, encoded]) {
          const robots = parseRobots(`User-agent: *\nDisallow: /x${written}y`)
          for (const asked of [name, encoded]) expect(robots.check('a', `/x${asked}y`).allowed).toBe(false)
        }
      }),
      { numRuns: 500 },
    )
  })
})
