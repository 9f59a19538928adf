/**
 * The promises of a crawl whose cost can be measured, and how each is switched off: by the crawler's own options where
 * there is one, else by taking the part away in the process (without.ts).
 */
import { FROM_SOURCES, type CrawlKind } from './site-crawl.ts'

interface Promised {
  /** For people: what is gone. */
  readonly words: string
  /** What a crawl of this kind is without it; undefined where that kind never has it. */
  take(from: Kind): Kind | undefined
}

/** A crawl as far as promises change it. */
type Kind = Required<Pick<CrawlKind, 'formats' | 'words' | 'env'>> & {
  /** Content is read: Markdown, tokens, fingerprints, the sample by which traps are told. */
  readonly content: boolean
  /** Parts to be taken away in the process. */
  readonly without: readonly string[]
}

/** What may be measured against. */
export const BASES: Readonly<Record<string, Kind>> = {
  everything: { formats: ['jsonl', 'markdown', 'warc'], words: [], env: {}, content: true, without: [] },
  links: { formats: ['jsonl'], words: ['--no-content'], env: {}, content: false, without: [] },
}

const withWords = (kind: Kind, ...words: string[]): Kind => ({ ...kind, words: [...kind.words, ...words] })
const withoutPart = (kind: Kind, part: string): Kind => ({ ...kind, without: [...kind.without, part] })

function withoutFormat(kind: Kind, format: string): Kind | undefined {
  if (!kind.formats.includes(format)) return undefined
  return { ...kind, formats: kind.formats.filter((name) => name !== format) }
}

export const PROMISES: Readonly<Record<string, Promised>> = {
  durability: {
    words: 'fdatasync, synchronous=FULL',
    take: (kind) => withoutPart(kind, 'durability'),
  },
  content: {
    words: 'Markdown and its files, tokens, SimHash',
    take: (kind) => (kind.content ? withWords(withoutFormat(kind, 'markdown') ?? kind, '--no-content') : undefined),
  },
  files: { words: 'a Markdown file for each page', take: (kind) => withoutFormat(kind, 'markdown') },
  simhash: {
    words: 'fingerprints, near-duplicates',
    take: (kind) =>
      kind.content ? withoutPart({ ...kind, env: { ...kind.env, TIPTOE_NEAR_DUPLICATES: '0' } }, 'simhash') : undefined,
  },
  warc: { words: 'WARC archive', take: (kind) => withoutFormat(kind, 'warc') },
  audit: { words: 'politeness audit', take: (kind) => withoutPart(kind, 'audit') },
  traps: { words: 'traps', take: (kind) => withWords(kind, '--no-traps') },
  robots: { words: 'robots.txt', take: (kind) => withWords(kind, '--no-robots', 'a benchmark of our own server') },
}

/** As a crawl is started. In one thread, so that a part that is taken away is gone everywhere. */
export function crawlKind(kind: Kind): CrawlKind {
  const env = kind.without.length === 0 ? kind.env : { ...kind.env, BENCH_WITHOUT: kind.without.join(',') }
  return {
    formats: kind.formats,
    words: [...kind.words, '--threads', '0'],
    env,
    node: [...FROM_SOURCES, '--import', new URL('./without.ts', import.meta.url).href],
  }
}
