/**
 * One string, and one number, for each URL that was met lately: the links of a page are mostly those of the page before,
 * and the same string object is found in a map without being compared letter by letter. Numbers hold until `forget`.
 */
import type { NormalizedUrl } from '../model/index.ts'

export interface InternedUrls {
  /** From 1. */
  idOf(url: NormalizedUrl): number
  urlOf(id: number): NormalizedUrl
  /** Whether it is time to forget; it is never done by itself, since ids are in use. */
  isFull(): boolean
  forget(): void
}

export interface InternedUrlLimits {
  readonly maxUrls: number
  readonly maxCharacters: number
}

export function createInternedUrls({ maxUrls, maxCharacters }: InternedUrlLimits): InternedUrls {
  const ids = new Map<NormalizedUrl, number>()
  const urls: NormalizedUrl[] = []
  let characters = 0
  return {
    idOf(url) {
      const known = ids.get(url)
      if (known !== undefined) return known
      const id = urls.push(url)
      ids.set(url, id)
      characters += url.length
      return id
    },
    urlOf: (id) => urls[id - 1] as NormalizedUrl,
    isFull: () => urls.length >= maxUrls || characters >= maxCharacters,
    forget() {
      ids.clear()
      urls.length = 0
      characters = 0
    },
  }
}
