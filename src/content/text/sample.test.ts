import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRng } from '../../base/index.ts'
import type { ContentSample } from '../../model/index.ts'
import { contentSample, hammingDistance, placeOf, plainText, SAMPLE_SIZES } from '../index.ts'

const URL = 'https://host.test/'
const exact = (text: string, url = URL): string => contentSample(text, url, '').exact
const rng = createRng(4)
const vocabulary = Array.from({ length: 500 }, () =>
  rng
    .int(2 ** 31)
    .toString(26)
    .replaceAll(/\d/g, 'q'),
)
const words = (count: number): string[] => Array.from({ length: count }, () => vocabulary[rng.int(500)] as string)
const paragraph = words(60).join(' ')

describe('two pages have the same sample', () => {
  test('when they differ in case, punctuation and the order of their words', () => {
    const shuffled = paragraph.split(' ').toReversed().join(', ').toUpperCase()
    expect(exact(shuffled)).toBe(exact(paragraph))
    expect(exact(`${paragraph} another`)).not.toBe(exact(paragraph))
  })

  test('when a paragraph differs in numbers, random tokens and addresses only', () => {
    const one = `${paragraph} Page 17, id 8f3a9c2e71, see https://a.test/x?y=1 or www.a.test/b`
    const other = `${paragraph} Page 9000, id 55e0b1c2d3, see http://b.test/ or www.c.test`
    expect(exact(one)).toBe(exact(other))
  })

  test.each([
    ['March 2027: no events planned', 'November 1999: no events planned'],
    ['Kalender für 14. März 2027', 'Kalender für 1. Dezember 2031'],
    ['Calendar 2027-03 nothing', 'Calendar 2028-11 nothing'],
    ['Calendar 3/2027 nothing', 'Calendar 11/2028 nothing'],
    ['lundi 3 mai, rien', 'jeudi 12 juin, rien'],
    ['week 12 of our plan', 'week 40 of our plan'],
    ['2027年3月 予定なし', '2031年11月 予定なし'],
    ['Mon Tue Wed Thu Fri Sat Sun 1 2 3 4 5 6 7', 'Mon Tue Wed Thu Fri Sat Sun 28 29 30 31'],
  ])('when a line differs in its date only: %s', (one, other) => {
    expect(exact(one)).toBe(exact(other))
    expect(exact(one).charAt(0)).toBe(SAMPLE_SIZES.short)
  })

  test('when they repeat their own addresses', () => {
    const echo = (path: string, said: string): string => exact(`${said} ${paragraph}`, `https://host.test${path}`)
    expect(echo('/maze/left/right', 'You are in maze left right')).toBe(
      echo('/maze/up/down', 'You are in maze up down'),
    )
    expect(echo('/shop?colour=red&size=small', 'Colour: red, size: small')).toBe(echo('/shop', ''))
    expect(echo('/%C3%A4pfel/gr%C3%BCn', 'Äpfel grün')).toBe(echo('/birnen/gelb', 'Birnen gelb'))
  })

  test('but not when they say words that their addresses have elsewhere', () => {
    const [first = '', , third = ''] = paragraph.split(' ')
    expect(exact(paragraph, `https://host.test/${first}-x-${third}`)).toBe(exact(paragraph))
  })
})

describe('by degrees', () => {
  const sample = (text: string, path: string, title = ''): ContentSample =>
    contentSample(text, `https://host.test${path}`, title)

  test('the whole differs by any letter of the text or of the title', () => {
    const base = sample(paragraph, '/a', 'Title').whole
    expect(sample(paragraph, '/b', 'Title').whole).toBe(base)
    expect(sample(paragraph, '/a', 'Title 2').whole).not.toBe(base)
    expect(sample(`${paragraph}.`, '/a', 'Title').whole).not.toBe(base)
    const long = words(4_000)
    expect(sample(long.with(2_000, 'other').join(' '), '/a').whole).not.toBe(sample(long.join(' '), '/a').whole)
  })

  test.each([
    ['3 March 2027', '14 May 2031', true],
    ['2027-03-14', '2031-05-09', true],
    ['Mon Tue Wed Thu Fri Sat Sun 1 2 3 4', 'Mon Tue Wed Thu Fri Sat Sun 1 2 3 4 5 6', true],
    ['week 12', 'week 40', true],
    ['Post 17', 'Post 18', false],
    ['Post 17\n\n3 March 2027', 'Post 18\n\n3 March 2027', false],
    ['You chose left', 'You chose right', false],
  ])('without dates, is %j the same as %j: %s', (one, other, isSame) => {
    const [first, second] = [one, other].map((said) => sample(`${said} ${paragraph}`, '/you-chose-left-right').undated)
    expect(first === second).toBe(isSame)
    const [third, fourth] = [one, other].map((title) => sample(paragraph, '/x', title).undated)
    expect(third === fourth).toBe(isSame)
  })

  test('a number in the query that the page repeats is what it is about', () => {
    const about = (text: string, path: string, title?: string): string => sample(text, path, title).exact
    expect(about(`Item 17 ${paragraph}`, '/item?id=17')).not.toBe(about(`Item 18 ${paragraph}`, '/item?id=18'))
    expect(about(paragraph, '/item?id=17', 'Item 17')).not.toBe(about(paragraph, '/item?id=18', 'Item 18'))
    expect(about(`Item 17 ${paragraph}`, '/item?id=1')).toBe(about(`Item 18 ${paragraph}`, '/item?id=2'))
    expect(about(`Item 17 ${paragraph}`, '/item/17')).toBe(about(`Item 18 ${paragraph}`, '/item/18'))
  })

  test('pages with other titles, or other numbers of their own, are not nearly the same', () => {
    const near = (text: string, title: string): bigint => BigInt(`0x${sample(text, '/a', title).near ?? ''}`)
    expect(hammingDistance(near(paragraph, 'One'), near(paragraph, 'Two'))).toBeGreaterThan(8)
    expect(hammingDistance(near(`${paragraph} No 7`, ''), near(`${paragraph} No 8`, ''))).toBeGreaterThan(8)
    expect(near(paragraph, '3 March 2027')).toBe(near(paragraph, '4 May 2031'))
  })
})

describe('the prose', () => {
  const HOME = 'https://host.test'
  const of = (path: string, markdown: string, title = ''): string | null =>
    contentSample(plainText(markdown, placeOf(HOME + path)), HOME + path, title).prose
  const list = (...paths: readonly string[]): string => paths.map((path) => `- [${path}](${HOME}${path})`).join('\n')
  const halves = (prose: string | null): string[] => [prose?.slice(0, 8) ?? 'none', prose?.slice(8) ?? 'none']
  const isSame = (one: string | null, other: string | null): boolean =>
    halves(one).some((half, index) => half === halves(other)[index] && half !== 'none')

  test.each([
    ['names of one word', '/gen/k3j9x2', 'Page k3j9x2.', '/gen/zz0q1', 'Page zz0q1.'],
    [
      'names of words that the text has as well',
      '/gen/an-old-page',
      'Page an old page.',
      '/gen/no-name',
      'Page no name.',
    ],
    ['numbers', '/gen?id=17', 'Page 17.', '/gen?id=18', 'Page 18.'],
  ])(
    'is the same for pages that differ in their own names and in what they link: %s',
    (_, one, echo, other, echoed) => {
      const text = `${paragraph} page old an, name of no`
      const place = one.includes('?') ? '/gen?id=' : '/gen/'
      const first = of(one, `${echo} ${text}\n\n${list(`${place}a`, `${place}bcd`)}`, `About ${echo}`)
      const second = of(
        other,
        `${echoed} ${text}\n\n${list(`${place}x9`, `${place}yz`, `${place}z`)}`,
        `About ${echoed}`,
      )
      expect(isSame(first, second)).toBe(true)
      const third = of(other, `${echoed} ${text} besides\n\n${list(`${place}x9`, `${place}yz`)}`, `About ${echoed}`)
      expect(isSame(first, third)).toBe(false)
    },
  )

  test('of a line counts its links, for lists differ in how many they have', () => {
    const [two, other, three] = [
      ['a', 'b'],
      ['c', 'd'],
      ['e', 'f', 'g'],
    ].map((names) => of('/gen/x', `Choose one.\n\n${list(...names.map((name) => `/gen/${name}`))}`))
    expect(isSame(two ?? null, other ?? null)).toBe(true)
    expect(isSame(two ?? null, three ?? null)).toBe(false)
  })

  test.each([
    ['no links', '/gen/x', paragraph],
    ['links to other places', '/gen/x', `${paragraph}\n\n${list('/gen/y', '/posts/a', '/posts/b')}`],
    ['few words and links to what lies below it', '/files/a/', `A list.\n\n${list('/files/a/b/', '/files/a/c/')}`],
    ['links out of the root', '/x', `${paragraph}\n\n${list('/posts/a', '/posts/b')}`],
    ['an image', '/gen/x', `${paragraph} ![A view](${HOME}/i.png)\n\n${list('/gen/y', '/gen/z')}`],
  ])('is none of a page with %s', (_, path, markdown) => {
    expect(of(path, markdown)).toBeNull()
  })

  test('of some length may lead to what lies below it', () => {
    const filters = (path: string): string | null =>
      of(path, `${paragraph}\n\n${list(`${path}small/`, `${path}blue/`)}`)
    expect(isSame(filters('/shop/red/'), filters('/shop/red/large/'))).toBe(true)
  })

  test('is there in the root, too', () => {
    expect(of('/x', `${paragraph}\n\n${list('/y', '/z', '/a/b')}`)).toBeNull()
    expect(of('/x', `${paragraph}\n\n${list('/y', '/z', '/v', '/a/b')}`)).not.toBeNull()
  })
})

describe('numbers in a row in the title', () => {
  const undated = (title: string): string => contentSample(paragraph, URL, title).undated

  test('are a version, and tell release notes from each other', () => {
    expect(undated('Release 2.2.27')).not.toBe(undated('Release 3.2.12'))
  })

  test('count for nothing where they are a date', () => {
    expect(undated('Calendar 2027-03-01')).toBe(undated('Calendar 2028-11-30'))
  })
})

describe('a short text', () => {
  test('is told from others by its numbers, unless it has a date', () => {
    expect(exact('This is page number 7 of all')).not.toBe(exact('This is page number 8 of all'))
    expect(exact('Copyright 2024, page 7 of all there are')).not.toBe(exact('Copyright 2024, page 8 of all there are'))
  })

  test('of next to no words is marked as such, and has no fingerprint', () => {
    for (const text of ['', '12 13', 'Words. on on on on', '!!!', 'word '.repeat(1_000)]) {
      const sample = contentSample(text, URL, '')
      expect(sample.exact.charAt(0)).toBe(SAMPLE_SIZES.nothing)
      expect(sample.near).toBeNull()
    }
  })

  test('grows to a long one by different words, not by the same ones', () => {
    const sizes = [4, 5, 19, 20].map((count) => exact(vocabulary.slice(0, count).join(' ')).charAt(0))
    expect(sizes).toEqual(['0', '1', '1', '2'])
  })
})

describe('the fingerprint', () => {
  const near = (text: string): bigint => BigInt(`0x${contentSample(text, URL, '').near ?? ''}`)

  test('mostly moves little with one word of a few hundred, and far with another text', () => {
    const text = words(400)
    const base = near(text.join(' '))
    const changed = Array.from({ length: 100 }, (_, at) => near(text.with(at * 4, 'changed').join(' ')))
    expect(changed.filter((hash) => hammingDistance(hash, base) <= 3).length).toBeGreaterThan(70)
    expect(hammingDistance(base, near(words(400).join(' ')))).toBeGreaterThan(12)
  })

  test('does not see numbers and dates', () => {
    expect(near(`${paragraph} on 3 March 2027`)).toBe(near(`${paragraph} on 12 May 2031`))
  })
})

test('any text, in any script, with any address, has a sample of sixteen hex digits each', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.string({ unit: 'binary', maxLength: 50 }),
      (text, path) => {
        const sample = contentSample(text, `https://host.test/${path}`, '')
        expect(sample.exact).toMatch(/^[0123][0-9a-f]{15}$/)
        if (sample.near !== null) expect(sample.near).toMatch(/^[0-9a-f]{16}$/)
        expect(contentSample(text, `https://host.test/${path}`, '')).toEqual(sample)
      },
    ),
  )
})

test('forms of one character are one', () => {
  expect(exact('\u1112\u1161\u11ab caf\u00e9 ΟΔΟΣ Ａ one two')).toBe(exact('한 cafe\u0301 οδος a ONE TWO'))
})

test('of a text that has no end, the beginning and the end count', () => {
  const text = words(4_000).join(' ')
  expect(exact(`${text} last`)).not.toBe(exact(`${text} other`))
  expect(exact(`first ${text}`)).not.toBe(exact(`other ${text}`))
})
