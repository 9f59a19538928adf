import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { NormalizedUrl } from '../model/index.ts'
import { hasParts, normalizeUrl, shapeOf, type UrlShape } from './index.ts'

const shape = (target: string): UrlShape => shapeOf(normalizeUrl(`https://host.test${target}`) as NormalizedUrl)
const without = (target: string, ...parts: string[]): string =>
  shape(target).without(new Set(parts)).replace('https://host.test', '')

describe('the template', () => {
  test.each([
    ['/calendar/2027/03/14', '/calendar/#/#/#'],
    ['/page-17.html', '/page-#.html'],
    ['/object/8f3a9c2e71b04d55', '/object/*'],
    ['/o/123e4567-e89b-12d3-a456-426614174000/x', '/o/*/x'],
    ['/(S(lit3py55t21z5v55vlm25s55))/a', '/(S)/a'],
    ['/a;jsessionid=AB12/b', '/a/b'],
    ['/how-to-write-documentation', '/how-to-write-documentation'],
    ['/JavaScript/getElementById', '/JavaScript/getElementById'],
    ['/', '/'],
  ])('of %s is %s', (target, template) => {
    expect(shape(target).template).toBe(template)
  })

  test('is open when it stands for many paths, and lies in folders', () => {
    expect(shape('/a/b1/c').isOpen).toBe(true)
    expect(shape('/a/b/c').isOpen).toBe(false)
    expect(shape('/a/b1/c').folders).toEqual(['/a/', '/a/b#/'])
    expect(shape('/c').folders).toEqual([])
  })
})

describe('parts', () => {
  test('are parameters, what a segment has behind a semicolon, random segments and the order of the parameters', () => {
    const names = (target: string): string[] => shape(target).parts.map(({ name }) => name)
    expect(names('/a?b=1&c=2&b=3')).toEqual(['b', 'c', '&'])
    expect(names('/a;JSESSIONID=1A')).toEqual([';jsessionid'])
    expect(names('/(S(abc123def))/a')).toEqual(['(S)'])
    expect(names('/x/8f3a9c2e71b04d55/a')).toEqual(['*1'])
    expect(names('/plain/path.html')).toEqual([])
  })

  test('look random or like sessions, or not', () => {
    const [part] = shape('/?sid=8f3a9c2e71b04d55').parts
    expect(part).toEqual({ name: 'sid', isRandom: true, isSession: true })
    expect(shape('/?page=2').parts[0]).toEqual({ name: 'page', isRandom: false, isSession: false })
    expect(shape('/?PHPSESSID=1').parts[0]?.isSession).toBe(true)
    expect(shape('/?sidebar=1').parts[0]?.isSession).toBe(false)
  })

  test('can be left out, and the rest stays', () => {
    expect(without('/a?b=1&c=2&b=3', 'b')).toBe('/a?c=2')
    expect(without('/a?b=1', 'b')).toBe('/a')
    expect(without('/a?b=2&a=1', '&')).toBe('/a?a=1&b=2')
    expect(without('/a;jsessionid=1A/b?c', ';jsessionid')).toBe('/a/b?c')
    expect(without('/(S(abc123))/a', '(S)')).toBe('/*/a')
    expect(without('/x/8f3a9c2e71b04d55/a', '*1')).toBe('/x/*/a')
    expect(without('/a//b/?', 'x')).toBe('/a//b/')
  })
})

describe('repetition', () => {
  test.each([
    ['/docs/docs/docs', '/docs', 3],
    ['/a/b/a/b/a/b/c', '/a/b', 3],
    ['/x/a/b/c/a/b/c', '/a/b/c', 2],
  ])('of %s is %s, %d times', (target, segments, times) => {
    expect(shape(target).repeated).toEqual({ segments, times })
  })

  test('of numbers is none', () => {
    expect(shape('/2011/11/11/11').repeated).toBeUndefined()
    expect(shape('/2011/11/11').recurrences).toBe(0)
  })

  test('is seen through other segments, and between parameters', () => {
    expect(shape('/a/x/a/y/a/z').recurrences).toBe(3)
    expect(shape('/?a=1&b=2&a=1').doubled).toBe('a=1')
    expect(shape('/?a=1&a=2').doubled).toBeUndefined()
  })
})

test('dates are a year and a smaller number, or written as one', () => {
  for (const target of ['/2027/03', '/cal?month=3&year=2027', '/20270314', '/202703']) {
    expect(shape(target).hasDate).toBe(true)
  }
  for (const target of ['/2027/', '/item/17', '/v1/12345678', '/1/2/3']) expect(shape(target).hasDate).toBe(false)
})

test('endings are the paths behind each folder; a URL with a query has none', () => {
  expect(shape('/a/b/c').endings).toEqual(['/c', '/b/c'])
  expect(shape('/a/b/').endings).toEqual(['/b/'])
  expect(shape('/a/b?c').endings).toEqual([])
})

test('detours are the paths without folders before the end, of which one at least is left; a URL with a query has none', () => {
  expect(shape('/a/b1/c2/d3/e4/f5/g').detours).toEqual(['/a/b1/c2/d3/e4/g', '/a/b1/c2/d3/g', '/a/b1/c2/g', '/a/b1/g'])
  expect(shape('/a/more/c/').detours).toEqual(['/a/c/'])
  expect(shape('/a/b/more/c').detours).toEqual(['/a/b/c'])
  expect(shape('/a/2/c').detours).toEqual([])
  expect(shape('/more/b').detours).toEqual([])
  expect(shape('/').detours).toEqual([])
  expect(shape('/a/more/c?d').detours).toEqual([])
})

test('any URL has a shape of bounded size, and is itself when nothing is left out', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.constantFrom('a', 'b=1', '', '17', ';x=1', '(S(a))'),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 80 }), fc.array(piece, { maxLength: 60 }), (segments, pairs) => {
      const url = normalizeUrl(`https://host.test/${segments.join('/')}?${pairs.join('&')}`)
      if (url === undefined) return
      const { parts, folders, endings, detours, parameters, without: write } = shapeOf(url)
      expect(parts.length).toBeLessThanOrEqual(8)
      expect(folders.length).toBeLessThan(48)
      expect(endings.length).toBeLessThanOrEqual(8)
      expect(detours.length).toBeLessThanOrEqual(4)
      expect(parameters).toBeLessThanOrEqual(24)
      expect(write(new Set())).toBe(url.replace(/\?$/, ''))
    }),
  )
})

test.each([
  ['/docs/v1/guide/a/7/page.html', 4],
  ['/1/2/1/1', 0],
  ['/a/b/a/c', 0],
])('the names in %s are %i, letters and numbers aside', (target, names) => {
  expect(shape(target).names).toBe(names)
})

test.each([
  ['/docs/guide/docs/', true],
  ['/a/b/a/b', false],
  ['/1/12/12', false],
])('a word occurs again in %s: %s', (target, isRecurrent) => {
  expect(shape(target).isRecurrent).toBe(isRecurrent)
})

test('a query is numbered if all of its values are', () => {
  expect(shape('/list?cat=3&page=12').isNumbered).toBe(true)
  expect(shape('/list?cat=books&page=12').isNumbered).toBe(false)
  expect(shape('/list?page').isNumbered).toBe(false)
})

test('whether a URL has parts or a date is told as its shape does', () => {
  const letters = fc.constantFrom(...'aZ9.-_;=&?(){}/0123456789abcdefXYZ'.split(''))
  const piece = fc.oneof(
    fc.string({ unit: letters, maxLength: 24 }),
    fc.uuid(),
    fc.constantFrom('2027', '11', '20271103', '(S(lit3py55t21z5v55vlm25s55))', 'a;sid=1', 'aBcDeFgHiJkLmNoPqR', '?a=1'),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const url = normalizeUrl(`https://host2027.test/${pieces.join('/')}`)
      if (url === undefined) return
      const { parts, hasDate } = shapeOf(url)
      expect(hasParts(url)).toBe(parts.length > 0 || hasDate)
    }),
    { numRuns: 3_000 },
  )
})
