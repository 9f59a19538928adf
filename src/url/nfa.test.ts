import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileRegex } from './regex.ts'

const search = (source: string, text: string): boolean => compileRegex(source, 0).search(text).matched

/** Regular expressions of the supported syntax, small enough that RegExp does not explode on them. */
const { expression } = fc.letrec<{ expression: string; sequence: string; quantified: string; atom: string }>((tie) => ({
  expression: fc.array(tie('sequence'), { minLength: 1, maxLength: 3 }).map((options) => options.join('|')),
  sequence: fc.array(tie('quantified'), { maxLength: 4 }).map((items) => items.join('')),
  quantified: fc.oneof(
    { weight: 3, arbitrary: tie('atom') },
    {
      weight: 2,
      arbitrary: fc
        .tuple(tie('atom'), fc.constantFrom('*', '+', '?', '{2}', '{1,}', '{0,2}', '{1,3}'), fc.constantFrom('', '?'))
        .map((parts) => parts.join('')),
    },
    { weight: 1, arbitrary: fc.constantFrom('^', '$', '\\b', '\\B') },
  ),
  atom: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    fc.constantFrom(
      'a',
      'b',
      '.',
      '/',
      '-',
      '\\.',
      '\\d',
      '\\W',
      '\\w',
      '\\S',
      '\\D',
      '[ab]',
      '[^a]',
      '[a-c]',
      '[^\\d/-]',
    ),
    fc.constantFrom('[\\w.]', '[a-]', '[]', '[^]', '\\x61', '\\u0062', '\\/', '{', '}', ']', 'a{,2}', '[\\]]'),
    tie('expression').map((inner) => `(${inner})`),
    tie('expression').map((inner) => `(?:${inner})`),
  ),
}))

const text = fc
  .array(fc.constantFrom('a', 'b', 'c', '1', '.', '/', '-', '_', '{', ' '), { maxLength: 8 })
  .map((characters) => characters.join(''))

describe('the regular expression engine', () => {
  it('agrees with RegExp', () => {
    fc.assert(
      fc.property(expression, fc.array(text, { minLength: 3, maxLength: 3 }), (source, texts) => {
        const oracle = new RegExp(source)
        const nfa = compileRegex(source, 0)
        for (const candidate of texts) expect(nfa.search(candidate).matched).toBe(oracle.test(candidate))
      }),
      { numRuns: 2000 },
    )
  })

  it('refuses or accepts any text, without another kind of error', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...Array.from('ab(){}[]|*+?^$\\-,:=!<>d1é')), maxLength: 12 }),
        (source) => {
          try {
            compileRegex(source, 0)
          } catch (error) {
            expect(error).toMatchObject({ code: 'usage' })
            return
          }
          // What we accept, RegExp accepts too.
          expect(() => new RegExp(source)).not.toThrow()
        },
      ),
      { numRuns: 5000 },
    )
  })

  it.each(['(a+)+$', '/(a|a)*$', '(a|aa)+$', '(.*)*x', 'a*a*a*a*a*b', '(a?){20}a{20}b', '^(([a-z])+.)+[A-Z]([a-z])+$'])(
    'takes work in proportion to the length of the text for %s',
    (source) => {
      const nfa = compileRegex(source, 0)
      const stepsFor = (length: number): number => nfa.search(`${'a'.repeat(length)}!`).steps
      const [one, two, four] = [stepsFor(1000), stepsFor(2000), stepsFor(4000)]
      expect(nfa.search(`${'a'.repeat(1000)}!`).matched).toBe(false)
      // In a line: the second and third thousand cost what the first did.
      expect(four - two).toBe(2 * (two - one))
    },
  )

  it('finds the same on a second search', () => {
    const nfa = compileRegex('^a+b$', 0)
    expect([nfa.search('aab').matched, nfa.search('aac').matched, nfa.search('aab').matched]).toEqual([
      true,
      false,
      true,
    ])
    expect(search('', '')).toBe(true)
  })
})
