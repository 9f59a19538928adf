import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TiptoeError } from '../model/index.ts'
import { compilePattern, MAX_PATTERN_LENGTH, normalizeUrl } from './index.ts'

const matches = (pattern: string, url: string): boolean => compilePattern(pattern).matches(normalizeUrl(url)!)

const usageError = (pattern: string): TiptoeError => {
  try {
    compilePattern(pattern)
  } catch (error) {
    if (error instanceof TiptoeError && error.code === 'usage') return error
    throw error
  }
  throw new Error(`"${pattern}" was accepted`)
}

describe('a glob', () => {
  it.each([
    // A folder and all below it, by whole segments.
    ['/docs', 'https://a.test/docs', true],
    ['/docs', 'https://a.test/docs/x/y', true],
    ['/docs', 'https://a.test/docs?q', true],
    ['/docs', 'https://a.test/docs-old', false],
    ['/docs', 'https://a.test/x/docs', false],
    ['/docs/', 'https://a.test/docs/x', true],
    ['/docs/', 'https://a.test/docs/', true],
    ['/docs/', 'https://a.test/docs', false],
    ['/', 'https://a.test/anything', true],
    ['https://a.test', 'https://a.test/x', true],
    ['https://a.test', 'https://a.test:8080/x', false],
    ['https://a.test', 'https://a.test.evil/x', false],
    ['HTTPS://A.Test:443/Docs', 'https://a.test/Docs/x', true],
    ['https://a.test/Docs', 'https://a.test/docs', false],
    ['a.test/docs', 'http://a.test/docs/x', true],
    ['a.test/docs', 'http://a.test:8080/docs/x', false],
    ['a.test:8080/docs', 'http://a.test:8080/docs/x', true],
    ['a.test/', 'https://a.test./x', true],
    // One star stays in a segment, two do not.
    ['/docs/*', 'https://a.test/docs/x', true],
    ['/docs/*', 'https://a.test/docs/', true],
    ['/docs/*', 'https://a.test/docs/x/y', false],
    ['/docs/**', 'https://a.test/docs/x/y', true],
    ['/docs/**', 'https://a.test/docs', false],
    ['/*/api', 'https://a.test/v1/api', true],
    ['/*/api', 'https://a.test/v1/x/api', false],
    ['/**/api', 'https://a.test/v1/x/api', true],
    ['/**/api/*.html', 'https://a.test/v1/api/api/x.html', true],
    ['/**/api/*.html', 'https://a.test/v1/api/x/y.html', false],
    ['/a*b*c', 'https://a.test/aXbXbXc', true],
    ['/a*b*c', 'https://a.test/aXbX/c', false],
    ['/aba*ba', 'https://a.test/aba', false],
    ['*.example.com/**', 'https://docs.example.com/x', true],
    ['*.example.com/**', 'https://example.com/x', false],
    ['*://a.test/x', 'http://a.test/x', true],
    ['https://*.test/**.pdf', 'https://a.test/b/C.pdf', true],
    ['**/x', 'https://a.test/b/x', true],
    // Without a slash: any segment, or the host.
    ['*.pdf', 'https://a.test/x/y.pdf', true],
    ['*.pdf', 'https://a.test/x/y.pdf?download', true],
    ['*.pdf', 'https://a.test/x.pdf/y', true],
    ['*.pdf', 'https://a.test/x/pdf', false],
    ['_sources', 'https://a.test/x/_sources/y.txt', true],
    ['_sources', 'https://a.test/_sources_old', false],
    ['a.test', 'https://a.test/x', true],
    ['A.TEST', 'https://a.test:8080/x', true],
    ['a.test:8080', 'https://a.test:8080/x', true],
    ['a.test:8080', 'https://a.test/x', false],
    ['*.test', 'https://a.test/', true],
    ['[::1]', 'http://[::1]:8080/', true],
    ['*', 'https://a.test/', true],
    // A question mark is itself, and brings in the query.
    ['/x?a=1', 'https://a.test/x?a=1', true],
    ['/x?a=1', 'https://a.test/x?a=12', false],
    ['/x?a=1', 'https://a.test/x', false],
    ['/x?*', 'https://a.test/x?next=/y/z', true],
    ['/x?*', 'https://a.test/x', false],
    ['*?*print=*', 'https://a.test/x/y?a=/&print=1', true],
    ['*?*print=*', 'https://a.test/x/y', false],
    ['/go?u=https://b.test/*', 'https://a.test/go?u=https://b.test/x/y', true],
    // Spelled as people type, compared as keys.
    ['/~user', 'https://a.test/%7Euser/x', true],
    ['/%7euser', 'https://a.test/~user', true],
    ['/caf%c3%a9', 'https://a.test/café', true],
    ['/café/*', 'https://a.test/caf%C3%A9/x', true],
    ['/a b', 'https://a.test/a%20b', true],
    ['/{id}', 'https://a.test/{id}', true],
    ["/x?q='a'", "https://a.test/x?q='a'", true],
    ['bücher.example', 'https://bücher.example/', true],
    ['*.bücher.example/**', 'https://www.bücher.example/x', true],
    ['/.', 'https://a.test/x', false],
  ] as const)('%s on %s: %s', (pattern, url, expected) => expect(matches(pattern, url)).toBe(expected))

  it('equals its translation to a regular expression', () => {
    const glob = fc.array(fc.constantFrom('a', 'b', '/', '*', '**', 'ab', '.'), { minLength: 1, maxLength: 8 })
    const path = fc.array(fc.constantFrom('a', 'b', '/', 'ab', '.x'), { maxLength: 10 })
    fc.assert(
      fc.property(glob, path, (parts, segments) => {
        const pattern = `/${parts.join('')}`
        const url = normalizeUrl(`https://a.test/${segments.join('')}`)!
        const source = pattern.replace(/\*{2,}|[*.]/g, (token) =>
          token === '.' ? '\\.' : token === '*' ? '[^/]*' : '.*',
        )
        const folder = pattern.includes('*') ? '' : pattern.endsWith('/') ? '.*' : '(/.*)?'
        expect(compilePattern(pattern).matches(url)).toBe(
          new RegExp(`^${source}${folder}$`).test(new URL(url).pathname),
        )
      }),
      { numRuns: 10_000 },
    )
  })

  it('that is empty or too long is a usage error', () => {
    expect(usageError('').message).toContain('empty')
    expect(usageError('x'.repeat(MAX_PATTERN_LENGTH + 1)).message).toContain('longer than')
    expect(usageError(`/*${'日'.repeat(1500)}*`).message).toContain('too long once it is percent-encoded')
  })

  it('of the greatest length can be compiled and matched', () => {
    const pattern = `/${'*a'.repeat(999)}`
    expect(matches(pattern, `https://a.test/${'a'.repeat(3000)}`)).toBe(true)
    expect(matches('/**a**a**a**a**a**b', `https://a.test/${'a'.repeat(3000)}`)).toBe(false)
  })
})

describe('a re: pattern', () => {
  it.each([
    ['re:/v[0-9]+/', 'https://a.test/docs/v12/x', true],
    ['re:^https://a', 'https://a.test/', true],
    ['re:^/docs', 'https://a.test/docs', false],
    ['re:\\.pdf$', 'https://a.test/x.pdf', true],
    ['re:\\.pdf$', 'https://a.test/x.pdf?y', false],
    ['re:[?&]print=(1|yes)\\b', 'https://a.test/x?a&print=yes&b', true],
    ['re:[?&]print=(1|yes)\\b', 'https://a.test/x?a&print=yesterday', false],
    ['re:/~user', 'https://a.test/%7Euser', true],
    ['re:(?<year>\\d{4})-\\d{2}$', 'https://a.test/2026-11', true],
    ['re:', 'https://a.test/', true],
  ] as const)('%s on %s: %s', (pattern, url, expected) => expect(matches(pattern, url)).toBe(expected))

  it.each([
    ['re:a(b', 'not closed at character 5'],
    ['re:a)b', 'without a "(" at character 5'],
    ['re:[ab', 'not closed at character 4'],
    ['re:*a', 'nothing to repeat at character 4'],
    ['re:a**', 'nothing to repeat at character 6'],
    ['re:^*', 'nothing to repeat at character 5'],
    ['re:a{3,2}', 'out of order at character 5'],
    ['re:[z-a]', 'out of order at character 6'],
    ['re:[a-\\d]', 'a range needs two characters at character 6'],
    ['re:(a)\\1', 'back-references are not supported at character 7'],
    ['re:a(?=b)', 'look-around is not supported at character 5'],
    ['re:(?<!a)b', 'look-around is not supported at character 4'],
    ['re:(?i)b', 'unknown kind of group at character 4'],
    ['re:\\p', 'unknown escape \\p at character 4'],
    ['re:a\\', 'a lone backslash at character 5'],
    ['re:\\xZ1', 'needs 2 hex digits at character 4'],
    ['re:é', '"é" cannot occur in a URL at character 4'],
    ['re:(a{1000}){1000}', 'too large'],
    ['re:a{99999999999}', 'too large'],
    [`re:${'(('.repeat(1)}${'(){999}'.repeat(1)}){999}){999}`, 'too large'],
    [`re:${'('.repeat(500)}`, 'nested more than'],
  ])('%s is a usage error: %s', (pattern, message) => {
    const error = usageError(pattern)
    expect(error.message).toContain(message)
    expect(error.message).toContain(`"${pattern}"`)
  })
})
