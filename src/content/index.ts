/** What a page says: its main content as Markdown, how long it is, and what it resembles. */
import type { Heading, LimitName } from '../model/index.ts'
import { contentHash } from './text/content-hash.ts'
import { htmlToMarkdown } from './markdown/markdown.ts'
import { placeOf } from './text/place.ts'
import { plainText } from './text/plain-text.ts'
import { textFingerprint } from './text/simhash.ts'
import { countTokens } from './text/tokens.ts'

export { contentHash } from './text/content-hash.ts'
export { createNearHashes, highWord, lowWord, type NearHashes } from './text/near-hashes.ts'
export { createNearDuplicateIndex, type NearDuplicate, type NearDuplicateIndex } from './text/near-duplicates.ts'
export { placeOf } from './text/place.ts'
export { plainText } from './text/plain-text.ts'
export { contentSample, SAMPLE_SIZES } from './text/sample.ts'
export { MIN_NEAR_FEATURES, hammingDistance, simhash, textFingerprint, type TextFingerprint } from './text/simhash.ts'
export { countTokens } from './text/tokens.ts'

export interface Content {
  /** The main content as GitHub Flavored Markdown, ending with a newline; empty for a page without text. */
  readonly markdown: string
  /** The same as plain words, with marks around what is linked: see `plainText`. */
  readonly text: string
  /** An estimate, see `countTokens`. */
  readonly tokens: number
  /** `sha256:` and the hex digest of the Markdown. */
  readonly contentHash: string
  /** null for a page without text. */
  readonly simhash: bigint | null
  /** What to compare texts by, see `TextFingerprint`; null for a page without text. */
  readonly near: bigint | null
  /** The headings of the main content, in order. */
  readonly headings: readonly Heading[]
  /** The limits that cut something off: `nesting`, `tags`, `markdown-size`. */
  readonly limits: readonly LimitName[]
}

/** Reads a page that came from `url`; `title` is its title element, which tells the page's heading from the site's. */
export function readContent(html: string, context: { url: string; title: string | null }): Content {
  const { markdown, headings, limits } = htmlToMarkdown(html, context)
  const text = plainText(markdown, placeOf(context.url))
  return {
    markdown,
    text,
    tokens: countTokens(markdown),
    contentHash: contentHash(markdown),
    ...fingerprintsOf(text),
    headings,
    limits,
  }
}

/** Of plain words. */
export function fingerprintsOf(text: string): Pick<Content, 'simhash' | 'near'> {
  if (text.trim() === '') return { simhash: null, near: null }
  const { simhash, near } = textFingerprint(text)
  return { simhash, near }
}
