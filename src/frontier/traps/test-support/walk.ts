/**
 * A crawl of one host without network, queues or time: URLs in the order they were found, judged when they are at the
 * head, aside when there is a reason, probed when nothing else is left. As the frontier does it, in thirty lines.
 */
import { createRng } from '../../../base/index.ts'
import { contentSample, placeOf, plainText } from '../../../content/index.ts'
import type { ContentSample, NormalizedUrl } from '../../../model/index.ts'
import { normalizeUrl } from '../../../url/index.ts'
import { createHostTraps, createRooms, createUnderWay } from '../index.ts'

export interface SitePage {
  /** What it is, for counting what is new. */
  readonly content: string
  readonly text: string
  /** None if it is missing. */
  readonly title?: string
  /** Absolute, or relative to the page. */
  readonly links: readonly string[]
  /** What its links are called, in their order; without names they are no part of its text. */
  readonly names?: readonly string[]
}

/** Undefined: there is no such page. */
export type Site = (url: URL) => SitePage | undefined

export interface Walk {
  readonly fetched: readonly NormalizedUrl[]
  /** Fetches that brought a content for the first time. */
  readonly fresh: number
  readonly aside: ReadonlyMap<NormalizedUrl, string>
  readonly contents: ReadonlySet<string>
  /** The longest text that it was written down as. */
  readonly storedLength: number
}

/**
 * At most `limit` fetches. With `inFlight`, so many pages are under way before one of them is read, whichever that is; with
 * `inBatch`, so many may be handed out together.
 */
export function walk(
  site: Site,
  seed: string,
  limit: number,
  { inFlight = 1, inBatch = 1, areShared = false } = {},
): Walk {
  const rooms = createRooms(1_000, { mostOfHost: 1_000, areShared })
  let traps = createHostTraps(undefined, { rooms })
  const start = normalizeUrl(seed) as NormalizedUrl
  const queue: NormalizedUrl[] = [start]
  /** With the page that each was found on. */
  const found = new Map<NormalizedUrl, NormalizedUrl | undefined>([[start, undefined]])
  const aside = new Map<NormalizedUrl, string>()
  const fetched: NormalizedUrl[] = []
  const contents = new Set<string>()
  let fresh = 0
  let storedLength = 0
  const underWay = createUnderWay()
  const rng = createRng(1)
  const sent: { url: NormalizedUrl; page: SitePage | undefined }[] = []

  /** Judges all that is aside again, as the frontier does before it skips any; whether some may go after all. */
  const freeInnocent = (): boolean => {
    const before = aside.size
    for (const url of aside.keys()) {
      if (traps.judge(url) !== undefined) continue
      aside.delete(url)
      queue.push(url)
    }
    return aside.size < before
  }
  const read = (url: NormalizedUrl, page: SitePage | undefined): void => {
    if (page === undefined) return
    if (!contents.has(page.content)) fresh += 1
    contents.add(page.content)
    const links = page.links.flatMap((link) => normalizeUrl(link, url) ?? [])
    for (const target of links) {
      if (found.has(target)) continue
      found.set(target, url)
      queue.push(target)
    }
    if (!traps.wantsSample(url)) traps.pass(url)
    else if (traps.learn(url, sampleOf(page, url), found.get(url), links)) freeInnocent()
    if (traps.changed) {
      const stored = traps.serialise()
      storedLength = Math.max(storedLength, stored.length)
      traps.leave()
      traps = createHostTraps(stored, { rooms })
    }
  }
  const send = (url: NormalizedUrl): void => {
    fetched.push(url)
    sent.push({ url, page: site(new URL(url)) })
  }
  let head = 0
  /** False when the next must wait for one of those under way. */
  const sendBatch = (): boolean => {
    const admits = traps.batch(underWay)
    for (let count = 0; count < inBatch && head < queue.length;) {
      const url = queue[head] as NormalizedUrl
      const reason = traps.judge(url)
      if (reason === undefined && !admits(url)) return false
      head += 1
      if (reason === undefined) {
        send(url)
        count += 1
      } else aside.set(url, reason)
    }
    return true
  }
  while (fetched.length < limit) {
    let hasRoom = true
    if (head < queue.length) hasRoom = sendBatch()
    else if (sent.length === 0) {
      const probe = [...aside.keys()].find((candidate) => traps.mayProbe(candidate))
      if (probe !== undefined) {
        aside.delete(probe)
        send(probe)
      } else if (!freeInnocent()) break
    }
    while (sent.length >= inFlight || (sent.length > 0 && (!hasRoom || head >= queue.length))) {
      const [answered] = sent.splice(rng.int(sent.length), 1)
      const { url, page } = answered as (typeof sent)[number]
      underWay.delete(url)
      read(url, page)
      hasRoom = true
    }
  }
  for (const { url, page } of sent) read(url, page)
  return { fetched, fresh, aside, contents, storedLength }
}

function sampleOf({ text, title = '', links, names }: SitePage, url: NormalizedUrl): ContentSample {
  if (names === undefined) return contentSample(text, url, title)
  const list = links.map((link, index) => `- [${names[index] ?? ''}](${new URL(link, url).href})`).join('\n')
  return contentSample(plainText(`${text}\n\n${list}`, placeOf(url)), url, title)
}
