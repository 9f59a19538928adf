/**
 * Plain sites as a program makes them to try a crawler: pages that say little, and much the same. Every page is one that
 * a crawl must not miss, whatever leads to it.
 */
import { prose, token } from './sites.ts'
import type { Site } from './walk.ts'

/** The address of a page by its number; 0 is the first one. */
export type Addresses = (number: number) => string
/** Title and text of a page by its number and address. */
export type Texts = (number: number, address: string) => { readonly title: string; readonly text: string }
/** Which pages a page of so many leads to. */
export type Links = (number: number, pages: number) => readonly number[]

export const LOREM =
  'Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore et dolore magna ' +
  'aliqua. Ut enim ad minim veniam, quis nostrud exercitation ullamco laboris nisi ut aliquip ex ea commodo consequat.'
const SENTENCE = 'This is a page of the test site.'

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index)
/** As a word that no other number has. */
const word = (number: number): string =>
  `${prose(`word ${number}`, 1)}${String(number).replaceAll(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)))}`
const words = (number: number): string => `${prose(`first ${number}`, 1)}-${word(number)}`
/** The path of a node in a tree in which every node has so many children. */
const branch = (number: number, names: readonly string[]): string =>
  number === 0
    ? ''
    : `${branch(Math.floor((number - 1) / names.length), names)}/${names[(number - 1) % names.length] as string}`

export const ADDRESSES: Readonly<Record<string, Addresses>> = {
  '/7': (n) => `/${n}`,
  '/page/7': (n) => `/page/${n}`,
  '/page-7.html': (n) => `/page-${n}.html`,
  '/section-1/page-7/': (n) => `/section-${n % 9}/page-${n}/`,
  '/word': (n) => `/${word(n)}`,
  '/docs/two-words.html': (n) => `/docs/${words(n)}.html`,
  '/word/word/word': (n) => `/${word(9_000 + (n % 5))}/${word(8_000 + (n % 20))}/${word(n)}`,
  '/docs/en/guide/part-1/page-7': (n) => `/docs/en/guide/part-${n % 9}/page-${n}`,
  '/docs/en/guide/part/word': (n) => `/docs/en/guide/part/${word(n)}`,
  '/1/2/1/1': (n) => `${branch(n, ['1', '2'])}/`,
  '/a/b/a/a': (n) => `${branch(n, ['a', 'b', 'c'])}/`,
  '/page?id=7': (n) => `/page?id=${n}`,
  '/?page=7': (n) => `/?page=${n}`,
  '/list?cat=1&page=7': (n) => `/list?cat=${n % 7}&page=${Math.floor(n / 7)}`,
  '/list?category=word&page=7': (n) => `/list?category=${word(n % 7)}&page=${Math.floor(n / 7)}`,
  '/show?name=word': (n) => `/show?name=${word(n)}`,
  '/2024/03/post-7': (n) => `/2024/${String((n % 12) + 1).padStart(2, '0')}/post-${n}`,
  '/2024/03/14/word': (n) => `/2024/03/${(n % 28) + 1}/${word(n)}`,
  '/object/5f0c…': (n) => `/object/${token(`object ${n}`)}`,
}

/** What names a page in its address, as words. */
const spoken = (address: string): string => address.replaceAll(/[^a-z0-9]+/g, ' ').trim()

/** Pages that differ by a name or a number. */
export const TEXTS: Readonly<Record<string, Texts>> = {
  'its number in title and heading': (n) => ({ title: `Page ${n}`, text: `Page ${n}\n\n${LOREM}` }),
  'its number in the heading': (n) => ({ title: 'Test site', text: `Page ${n}\n\n${LOREM}` }),
  'its number in the title': (n) => ({ title: `Page ${n}`, text: LOREM }),
  'its number and nothing else': (n) => ({ title: `Page ${n}`, text: `Page ${n}` }),
  'its number in a sentence': (n) => ({ title: 'Test', text: `Hello, this is page number ${n} of the test site.` }),
  'a word in the heading': (n) => ({ title: 'Test site', text: `${word(n)}\n\n${LOREM} ${LOREM}` }),
  'a word in the title': (n) => ({ title: word(n), text: LOREM }),
  'its address in the title': (_, address) => ({ title: address, text: LOREM }),
  'its number, and a date that all have': (n) => ({
    title: `Item ${n}`,
    text: `Item ${n}\n\n${LOREM}\n\nLast updated on 3 March 2024`,
  }),
  'its number, and a date of its own': (n) => ({
    title: 'Blog',
    text: `Post ${n}\n\n${(n % 28) + 1} March 2024\n\n${LOREM}`,
  }),
  'links to its neighbours': (n) => ({
    title: 'Test',
    text: `Page ${n}\n\n${LOREM}\n\n${[1, 2, 3].map((step) => `Page ${n + step}`).join('\n')}`,
  }),
}

/** Pages that do not differ at all. */
export const CONSTANT_TEXTS: Readonly<Record<string, Texts>> = {
  'one sentence': () => ({ title: 'Test', text: SENTENCE }),
  'one word': () => ({ title: '', text: 'Hello' }),
  'a sentence with a date': () => ({ title: 'Test', text: `${SENTENCE} Last updated on 3 March 2024.` }),
}

export const LINKS: Readonly<Record<string, Links>> = {
  'a chain': (n, pages) => (n + 1 < pages ? [n + 1] : []),
  'a tree': (n, pages) => [2 * n + 1, 2 * n + 2].filter((child) => child < pages),
  'a list of all on the first page': (n, pages) => (n === 0 ? range(pages) : [0]),
  'a list of all on every page': (_, pages) => range(pages),
  portions: (n, pages) =>
    range(12)
      .map((step) => 12 * n + step + 1)
      .filter((child) => child < pages),
  'a ring with bridges': (n, pages) => [n + 1, 7 * n + 3, 13 * n + 5].map((to) => to % pages),
}

/** The first page is the root, too. */
export function syntheticSite(pages: number, addresses: Addresses, texts: Texts, links: Links): Site {
  const numbers = new Map(range(pages).map((number) => [addresses(number), number]))
  return (url) => {
    const address = url.pathname + url.search
    const number = address === '/' ? 0 : numbers.get(address)
    if (number === undefined) return undefined
    return { content: `${number}`, ...texts(number, spoken(address)), links: links(number, pages).map(addresses) }
  }
}
