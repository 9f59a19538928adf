/**
 * A crawl as one Markdown document, or as several that hold only so many tokens each: a table of contents, then a
 * chapter for each page in the order of the site. Links between pages of the document lead to their chapters.
 *
 * Pages are read one at a time. Where a limit divides the document, they are read twice: once to see which file each
 * comes to, since a link may lead forward, and once to write them.
 */
import { createLru } from '../../base/index.ts'
import { countTokens } from '../../content/index.ts'
import type { ReadContent } from '../content-files.ts'
import type { IndexedPage, PageIndex } from '../page-index.ts'
import { folderOf } from '../site-order.ts'
import { anchorOf, blockText, chapterBlocks, chapterHead, titleOf, type Lead } from './page-blocks.ts'
import { createParts, type Chapter, type Placed } from './parts.ts'

/** A file must have room for its head, and for a title, an address and a line of contents, all at their longest. */
export const MIN_PART_TOKENS = 2_000
export const MAX_PART_TOKENS = 1_000_000_000
/** Origins named in the title of the document. */
const ORIGINS_NAMED = 3
const DEEPEST_ITEM = 5
/** Longer names of hosts are cut in headings. */
const MAX_HOST = 80

export interface BookOptions {
  /** Absent: one file. */
  readonly maxTokens?: number
}

export interface BookFile {
  /** Absent for the only file. */
  readonly name?: string
  /** The file, in pieces of whole lines. To be read to its end before the next file is asked for. */
  readonly text: Iterable<string>
}

export function* bookFiles(index: PageIndex, read: ReadContent, options: BookOptions): Generator<BookFile> {
  const { maxTokens } = options
  const isDivided = maxTokens !== undefined
  const origins = index.origins(ORIGINS_NAMED + 1)
  const base = { index, origins, isOneSite: origins.length === 1 }
  // At its longest, which is what each file is reckoned with.
  const baseCost = countTokens(partHead(base, MOST_PARTS, MOST_PARTS))
  const count = maxTokens === undefined ? 1 : plan(maxTokens)
  const find = createFinder(index)
  const texts = createAhead(placedTexts())
  const listed = createAhead(index.pages())
  let continued: IndexedPage | undefined

  for (let part = 1; part <= count; part++) {
    yield isDivided ? { name: partName(part), text: partText(part) } : { text: partText(part) }
  }

  /** Decides which files each page is in; returns how many there are. */
  function plan(limit: number): number {
    const parts = createParts({ maxTokens: limit, baseCost })
    const chapter = chapterMaker(createFinder(index))
    for (const page of index.pages()) {
      let firstPart = 0
      let lastPart = 0
      for (const { part } of parts.add(chapter(page))) {
        firstPart ||= part
        lastPart = part
      }
      index.place(page, firstPart, lastPart)
    }
    return parts.part
  }

  function* partText(part: number): Generator<string> {
    yield partHead(base, part, count)
    yield* contents(part)
    while (texts.head?.part === part) yield texts.take().text
  }

  function* placedTexts(): Generator<Placed> {
    const chapterOf = chapterMaker(find)
    for (const page of index.pages()) {
      const chapter = chapterOf(page)
      const { firstPart, lastPart } = page
      if (maxTokens === undefined || firstPart === lastPart) {
        const part = isDivided ? firstPart : 1
        yield { part, text: chapter.head(false) }
        for (const block of chapter.blocks) yield { part, text: chapter.text(block, part) }
      } else yield* createParts({ maxTokens, baseCost, firstPart }).add(chapter)
    }
  }

  /** The pages of a file follow each other, and only the last of them can go on in the next. */
  function* contents(part: number): Generator<string> {
    let host = ''
    /** The folders that the last page lies in, as far as they have pages here. */
    const above: string[] = []
    const entry = function* (page: IndexedPage, isContinued: boolean): Generator<string> {
      if (!base.isOneSite && new URL(page.url).host !== host) {
        host = new URL(page.url).host
        yield hostItem(host)
      }
      const folder = folderOf(page.url)
      while (above.length > 0 && (folder === above.at(-1) || !folder.startsWith(above.at(-1) ?? ''))) above.pop()
      yield item(page, itemDepth(above.length), isContinued)
      above.push(folder)
      continued = page.lastPart > part ? page : undefined
    }
    if (continued !== undefined) yield* entry(continued, true)
    const beginsHere = (page: IndexedPage | undefined): boolean =>
      page !== undefined && (!isDivided || page.firstPart === part)
    while (beginsHere(listed.head)) {
      yield* entry(listed.take(), false)
    }
    yield '\n'
  }

  function itemDepth(folders: number): number {
    return Math.min(DEEPEST_ITEM, folders) + (base.isOneSite ? 0 : 1)
  }

  /** A heading, a line of contents and, where there are several sites, the line of its site: all at their longest. */
  function headCost(page: IndexedPage): number {
    const longest = (text: (continued: boolean) => string): number =>
      Math.max(countTokens(text(false)), countTokens(text(true)))
    return (
      longest((continued) => chapterHead(page, { continued })) +
      longest((continued) => item(page, itemDepth(DEEPEST_ITEM), continued)) +
      (base.isOneSite ? 0 : countTokens(hostItem(new URL(page.url).host)))
    )
  }

  function chapterMaker(findPage: Finder): (page: IndexedPage) => Chapter {
    // The longest link that can come of one is to another file.
    const longest: Lead = (url) => leadTo(findPage(url), 0)
    return (page) => ({
      headCost: isDivided ? headCost(page) : 0,
      head: (continued) => chapterHead(page, { continued }),
      blocks: chapterBlocks(page, read(page, index.recordOf(page)) ?? ''),
      cost: (block) => countTokens(blockText(block, longest)),
      text: (block, part) => blockText(block, (url) => leadTo(findPage(url), isDivided ? part : undefined)),
    })
  }
}

type Finder = (url: string) => IndexedPage | undefined

/** Most links of a site lead to a few pages. */
const FOUND_KEPT = 8_192

function createFinder(index: PageIndex): Finder {
  const found = createLru<string, IndexedPage | null>(FOUND_KEPT)
  return (url) => {
    const known = found.get(url)
    if (known !== undefined) return known ?? undefined
    const page = index.find(url)
    // A copy: what was cut out of a page's text would keep all of it in memory.
    found.set(Buffer.from(url).toString(), page ?? null)
    return page
  }
}

/** Items of which the next can be looked at before it is taken. */
function createAhead<T>(items: Iterable<T>): { readonly head: T | undefined; take(): T } {
  const iterator = items[Symbol.iterator]()
  let next: IteratorResult<T> | undefined
  const look = (): IteratorResult<T> => (next ??= iterator.next())
  return {
    get head() {
      const { done, value } = look()
      return done === true ? undefined : value
    },
    take() {
      const { value } = look() as IteratorYieldResult<T>
      next = undefined
      return value
    },
  }
}

/** Where a page is, seen from a file: within the same one a name is enough. `from` is undefined in an undivided document. */
function leadTo(page: IndexedPage | undefined, from: number | undefined): string | undefined {
  if (page === undefined) return undefined
  const isHere = from === undefined || (page.firstPart === from && from !== 0)
  return isHere ? `#${anchorOf(page)}` : `${partName(from === 0 ? MOST_PARTS : page.firstPart)}#${anchorOf(page)}`
}

/** Digits enough for any number of files; longer numbers than these are no shorter in tokens. */
const MOST_PARTS = 999_999
const partName = (part: number): string => `part-${String(part).padStart(6, '0')}.md`

interface Base {
  readonly index: PageIndex
  readonly origins: readonly string[]
  readonly isOneSite: boolean
}

function partHead({ index, origins }: Base, part: number, count: number): string {
  const hosts = origins.map((origin) => shortHost(new URL(origin).host))
  const named = hosts.length > ORIGINS_NAMED ? [...hosts.slice(0, ORIGINS_NAMED), 'others'] : hosts
  const title = named.length === 0 ? 'No pages' : named.join(', ')
  const pages = `${index.count} ${index.count === 1 ? 'page' : 'pages'}`
  const which = count === 1 ? `${pages}.` : `Part ${part} of ${count}; ${pages} in all.`
  return `# ${title}\n\n${which}\n\n## Contents\n\n`
}

function hostItem(host: string): string {
  return `- ${shortHost(host)}\n`
}

function shortHost(host: string): string {
  return host.length <= MAX_HOST ? host : `${host.slice(0, MAX_HOST)}…`
}

function item(page: IndexedPage, depth: number, continued: boolean): string {
  const title = `${titleOf(page)}${continued ? ' (continued)' : ''}`
  return `${'  '.repeat(depth)}- ${continued ? title : `[${title}](#${anchorOf(page)})`}\n`
}
