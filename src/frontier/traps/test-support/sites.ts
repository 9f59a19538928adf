/** Sites that are made from nothing, with traps in them. All that is random comes from the path. */
import { createRng } from '../../../base/index.ts'
import type { Site } from './walk.ts'

const WORDS = (
  'archive batch bridge buffer cache carriage channel clock cluster column copper corner counter delay desk door ' +
  'engine entry evening field filter frame garden gate harbour hour index island journal kettle ladder lantern lease ' +
  'ledger letter library limit lock machine margin market meadow memory minute mirror module morning needle network ' +
  'notebook office orchard order outcome packet paper path pattern pause pencil pipe pocket policy port process queue ' +
  'quiet rail record region reply request river road robot route rule sample scale schedule scope script season server ' +
  'shelf signal silver slot socket station store stream summer switch table task teacup thread ticket timer token tower ' +
  'track train transfer value valley vessel village visit waiter walk warning water weather window winter wire worker'
).split(' ')

function seedOf(text: string): number {
  let seed = 7
  for (let at = 0; at < text.length; at++) seed = Math.imul(seed ^ text.charCodeAt(at), 0x01000193)
  return seed >>> 0
}

/** So many words that depend on the name alone. */
export function prose(name: string, words: number): string {
  const rng = createRng(seedOf(name))
  return Array.from({ length: words }, () => WORDS[rng.int(WORDS.length)] as string).join(' ')
}

/** A token as sessions have them, another one for every name. */
export function token(name: string): string {
  const rng = createRng(seedOf(name))
  return Array.from({ length: 24 }, () => rng.int(16).toString(16)).join('')
}

export const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

export interface TrapOptions {
  /** Honest pages beside the trap. */
  readonly pages: number
  /** Words of a page in the trap, beside what it says of its own address. */
  readonly words: number
  /** Whether a page in the trap repeats its own address in words. */
  readonly echoes: boolean
}

/** The address of an honest page. */
export const article = (number: number): string =>
  `/articles/${prose(`slug ${number}`, 3).replaceAll(' ', '-')}-${number}`
const articleNumber = (path: string): number => Number(/^\/articles\/[a-z-]+-(\d+)$/.exec(path)?.[1] ?? Number.NaN)

/** Honest pages that lead to the trap from everywhere. */
function withArticles(options: TrapOptions, entries: readonly string[], trap: Site): Site {
  return (url) => {
    const path = url.pathname
    if (path === '/') {
      const links = [...range(20).map(article), ...entries]
      return { content: '/', text: prose('home', 80), links }
    }
    const number = articleNumber(path)
    if (Number.isNaN(number) || number >= options.pages) return trap(url)
    const links = [1, 2, 3, 4, 5].map((step) => article((number * 5 + step) % options.pages))
    const text = `Article ${number}. ${prose(path, 120)}`
    return { content: path, text, links: ['/', article((number + 1) % options.pages), ...links, ...entries] }
  }
}

const said = (options: TrapOptions, what: string, echo: string): string =>
  `${options.echoes ? `${echo} ` : ''}${prose(what, options.words)}`

const MONTHS = 'January February March April May June July August September October November December'.split(' ')

/** A month for every number, both ways, with a page for each day. */
export function calendar(options: TrapOptions, style: 'path' | 'query'): Site {
  const link = (year: number, month: number, day?: number): string => {
    if (style === 'query') return `/calendar?year=${year}&month=${month}${day === undefined ? '' : `&day=${day}`}`
    return `/calendar/${year}/${String(month).padStart(2, '0')}${day === undefined ? '' : `/${day}`}`
  }
  return withArticles(options, [link(2026, 11)], (url) => {
    const numbers = (url.pathname + url.search).match(/\d+/g)?.map(Number) ?? []
    const [year, month, day] = numbers
    if (year === undefined || month === undefined) return undefined
    const next = month === 12 ? link(year + 1, 1) : link(year, month + 1)
    const previous = month === 1 ? link(year - 1, 12) : link(year, month - 1)
    const days = range(28).map((index) => link(year, month, index + 1))
    const name = `${day ?? ''} ${MONTHS[month - 1] as string} ${year}`
    const grid = day === undefined ? ` Mon Tue Wed Thu Fri Sat Sun ${range(28).join(' ')}` : ''
    const text = `${said(options, day === undefined ? 'calendar' : 'day', name)} ${name}${grid} No events`
    return { content: day === undefined ? 'calendar' : 'day', text, links: [next, previous, ...days] }
  })
}

/** A list with filters that change nothing, or only its order: every combination is a URL. */
export function facets(options: TrapOptions): Site {
  const values: Record<string, string[]> = {
    colour: ['red', 'green', 'blue'],
    size: ['small', 'large'],
    brand: ['north', 'south', 'east'],
    sort: ['price', 'name', 'newest'],
    view: ['grid', 'list'],
    stock: ['yes'],
  }
  return withArticles(options, ['/shop'], (url) => {
    if (url.pathname !== '/shop') return undefined
    const links: string[] = []
    for (const [key, all] of Object.entries(values)) {
      for (const value of all) {
        const query = new URLSearchParams(url.search)
        query.set(key, value)
        links.push(`/shop?${query.toString()}`)
      }
    }
    const items = prose('shop', options.words).split(' ')
    if (url.searchParams.has('sort')) items.sort()
    const chosen = [...url.searchParams].map(([key, value]) => `${key} ${value}`).join(' ')
    return { content: 'shop', text: `${options.echoes ? chosen : ''} ${items.join(' ')}`, links }
  })
}

export type SessionStyle = 'sid' | 'unknown' | 'jsessionid' | 'asp'

/** Every page links to every other one under a session of its own. */
export function sessions(options: TrapOptions, style: SessionStyle): Site {
  const carry = (path: string, session: string): string => {
    if (style === 'sid') return `${path}?sid=${session}`
    if (style === 'unknown') return `${path}?zq=${session.slice(0, 6)}`
    if (style === 'jsessionid') return `${path};jsessionid=${session}`
    return `/(S(${session}))${path}`
  }
  return (url) => {
    const path = url.pathname.replace(/;.*/, '').replace(/^\/\(S\(\w+\)\)/, '')
    const session = token(url.href)
    const number = path === '/' ? -1 : articleNumber(path)
    if (Number.isNaN(number) || number >= options.pages) return undefined
    const steps = number === -1 ? range(20) : [1, 2, 3, 4, 5].map((step) => (number * 5 + step) % options.pages)
    const links = [...steps, (number + 1) % options.pages].map((to) => carry(article(to), session))
    return { content: path, text: prose(path, options.words), links }
  }
}

/** Every page links to some others with a session of its own, and to some without. */
export function someSessions(options: TrapOptions): Site {
  const target = (from: number, step: number): string => article((from * 7 + step * 13) % options.pages)
  return (url) => {
    const number = url.pathname === '/' ? 0 : articleNumber(url.pathname)
    if (!(number < options.pages)) return undefined
    const links = [article((number + 1) % options.pages), ...[1, 2].map((step) => target(number, step))]
    const carried = [3, 4, 5, 6].map((step) => `${target(number, step)}?sid=${token(url.href)}`)
    return { content: url.pathname, text: prose(url.pathname, options.words), links: [...carried, ...links] }
  }
}

/** Relative links without a slash in front, on a server that looks at the end of the path alone. */
export function wrongBase(options: TrapOptions): Site {
  const folder = (number: number): string => `part-${'abcdefgh'.charAt(number % 8)}`
  const page = (number: number): string =>
    `${folder(number)}/${prose(`page ${number}`, 2).replace(' ', '-')}-${number}.html`
  return (url) => {
    if (url.pathname === '/') return { content: '/', text: prose('home', 60), links: range(30).map(page) }
    const number = Number(/(\d+)\.html$/.exec(url.pathname)?.[1] ?? Number.NaN)
    if (!(number < options.pages)) return undefined
    const links = [1, 2, 3, 4, 5].map((step) => `/${page((number * 5 + step) % options.pages)}`)
    // Half of the links are right, half are resolved against the page's own folder.
    const wrong = [7, 11, 13].map((step) => page((number * step + 1) % options.pages))
    return { content: `${number}`, text: said(options, `page ${number}`, url.pathname), links: [...links, ...wrong] }
  }
}

/**
 * Relative links that lead through one more folder each time, on a server that looks at the first folder and the last name:
 * through one that is always the same, or through the page that they are on.
 */
export function detours(options: TrapOptions, style: 'folder' | 'page'): Site {
  // Numbers are written in letters: in a line or two, a page that repeats its address is another one by any number in it.
  const letters = 'abcdefghij'
  const spelled = (number: number): string => String(number).replaceAll(/\d/g, (digit) => letters.charAt(Number(digit)))
  const name = (number: number): string => `${prose(`name ${number}`, 2).replace(' ', '-')}-${spelled(number)}`
  const page = (number: number): string => (style === 'page' ? `/notes/${name(number)}/` : `/notes/${name(number)}`)
  return (url) => {
    if (url.pathname === '/') return { content: '/', text: prose('home', 60), links: range(30).map(page) }
    const end = /^\/notes\/.*-([a-j]+)\/?$/.exec(url.pathname)?.[1] ?? ''
    const digits = end.replaceAll(/[a-j]/g, (letter) => String(letters.indexOf(letter)))
    const number = digits === '' ? Number.NaN : Number(digits)
    if (!(number < options.pages)) return undefined
    const others = [1, 2, 3].map((step) => (number * 3 + step) % options.pages)
    const through = style === 'page' ? `${name(others[0] as number)}/` : `see/${name(others[0] as number)}`
    return {
      content: `${number}`,
      text: said(options, `note ${number}`, url.pathname),
      links: [...others.map(page), through],
    }
  }
}

/** One page after the other, and ever the same text. */
export function endlessPages(options: TrapOptions): Site {
  return withArticles(options, ['/stream/page/1'], (url) => {
    const number = Number(/^\/stream\/page\/(\d+)$/.exec(url.pathname)?.[1] ?? Number.NaN)
    if (Number.isNaN(number)) return undefined
    const links = [1, 2, 3].map((step) => `/stream/page/${number + step}`)
    return { content: 'stream', text: said(options, 'stream', `Page ${number} of many`), links }
  })
}

/** Pages with names that lead to ever more of them, and name these. */
export function endlessNames(options: TrapOptions, style: 'words' | 'tokens' | 'query'): Site {
  const place = style === 'query' ? '/show?name=' : '/names/'
  const name = (text: string): string =>
    style === 'words' ? prose(text, 2).replace(' ', '-') : token(text).slice(0, 8)
  return withArticles(options, [`${place}start`], (url) => {
    const target = url.pathname + url.search
    if (!target.startsWith(place)) return undefined
    const own = target.slice(place.length)
    const names = range(4).map((index) => name(`${own} ${index}`))
    const text = said(options, 'names', `You look at ${own}.`)
    return { content: 'names', text, links: names.map((other) => place + other), names }
  })
}

/** Folders in folders, each with names of its own. */
export function endlessDepth(options: TrapOptions): Site {
  return withArticles(options, ['/maze/start/'], (url) => {
    if (!url.pathname.startsWith('/maze/')) return undefined
    const rng = createRng(seedOf(url.pathname))
    const links = range(4).map(() => `${url.pathname}${WORDS[rng.int(WORDS.length)] as string}-${rng.int(100)}/`)
    return { content: 'maze', text: said(options, 'maze', url.pathname.replaceAll('/', ' ')), links }
  })
}

/** Sites with one trap each, and how many different contents they have with so many honest pages. */
export const SITES_WITH_TRAPS: readonly [
  name: string,
  make: (options: TrapOptions) => Site,
  contents: (pages: number) => number,
][] = [
  ['a calendar in the path', (options) => calendar(options, 'path'), (pages) => pages + 3],
  ['a calendar in the query', (options) => calendar(options, 'query'), (pages) => pages + 3],
  ['combinations of filters', facets, (pages) => pages + 2],
  ['session ids in a parameter of a known name', (options) => sessions(options, 'sid'), (pages) => pages + 1],
  ['session ids in a parameter of any name', (options) => sessions(options, 'unknown'), (pages) => pages + 1],
  ['session ids behind a semicolon', (options) => sessions(options, 'jsessionid'), (pages) => pages + 1],
  ['session ids as a folder', (options) => sessions(options, 'asp'), (pages) => pages + 1],
  ['session ids in some links', someSessions, (pages) => pages + 1],
  ['relative links on a wrong base', wrongBase, (pages) => pages + 1],
  ['relative links through another folder', (options) => detours(options, 'folder'), (pages) => pages + 1],
  ['relative links through the page itself', (options) => detours(options, 'page'), (pages) => pages + 1],
  ['depth without end', endlessDepth, (pages) => pages + 2],
  ['numbered pages without end', endlessPages, (pages) => pages + 2],
  ['names without end', (options) => endlessNames(options, 'words'), (pages) => pages + 2],
  ['tokens without end', (options) => endlessNames(options, 'tokens'), (pages) => pages + 2],
  ['tokens in a query without end', (options) => endlessNames(options, 'query'), (pages) => pages + 2],
]
