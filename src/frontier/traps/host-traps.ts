/**
 * What was learned of the traps of one host, and what follows from it for a URL. Kept true: it is bounded (16 KB as
 * text, as much again from 128 pages on and for each 256 more), a lesson is drawn from two or three pages, and every
 * lesson can be unlearned. It knows nothing of queues and requests; who calls it decides what becomes of a URL that is set
 * aside.
 *
 * Four kinds of lessons:
 * - **Parts.** Two URLs that differ in one part only (a parameter, a session id in the path, the order of the
 *   parameters) and said the same: the part makes no difference. Then a URL is set aside when the same URL with another
 *   value of the part, or without it, was let pass before; a page that is new behind it is still read.
 * - **Endings.** `/a/b/c` said the same as `/b/c`: relative links lead into their own folder again and again.
 * - **Detours.** `/a/x/c` said the same as `/a/c`: relative links lead through folders that the server does not look at.
 * - **Subjects.** Pages of one template, query, folder or depth that said the same as any page before, or nearly the same
 *   as others of the template.
 */
import type { ContentSample, NormalizedUrl } from '../../model/index.ts'
import { hasParts, shapeOf } from '../../url/index.ts'
import { NO_ADDRESSES, type Address, type Addresses } from './address.ts'
import { createBatch } from './batch.ts'
import { createReader, createWriter } from './codec.ts'
import { createLessons, type Lesson } from './lessons.ts'
import { createMemory } from './memory.ts'
import { NO_ROOMS, type Rooms } from './rooms.ts'
import { isWithinRules } from './rules.ts'
import { teach } from './teaching.ts'
import type { UnderWay } from './under-way.ts'
import { createVerdicts, NESTED } from './verdicts.ts'

export interface HostTraps {
  /**
   * Why this URL should be set aside, in words; undefined when there is no reason. For URLs that were not read yet. Of
   * several that mean the same page the one that was let pass is let pass again, the others are not.
   */
  judge(url: NormalizedUrl): string | undefined
  /** There is no reason, and it will be asked for. Those that a batch admits need no telling. */
  letPass(url: NormalizedUrl): void
  /**
   * For URLs that will be asked for before it is known what those under way say: whether one more may be among them.
   * Those that it admits are under way, and whoever calls it takes them from there. It admits any where none is, and all
   * while nothing was read of the host. What may go is shared out over so many batches, one unless told.
   */
  batch(underWay: UnderWay, batches?: number): (url: NormalizedUrl) => boolean
  /** Whether it matters what the page says: on a host of many pages, a part of those under plain names is enough. */
  wantsSample(url: NormalizedUrl): boolean
  /** A page was read for the first time without a sample. */
  pass(url: NormalizedUrl): void
  /**
   * A page was read for the first time, which was found on `referrer` and has these links. True when URLs that are aside may be innocent after all:
   * judge them again.
   */
  learn(url: NormalizedUrl, sample: ContentSample, referrer?: NormalizedUrl, links?: readonly NormalizedUrl[]): boolean
  /** Whether a URL that is aside may be fetched, to see whether its lesson is right. Counts it, if so. */
  mayProbe(url: NormalizedUrl): boolean
  /** Whether it is time to write it down. What was learned since the last time may be lost: it is learned again. */
  readonly changed: boolean
  /** Whether nothing was learned since the last time. */
  readonly isSaved: boolean
  serialise(): string
  /** It will not be used any more; gives back what it took of the room that hosts share. */
  leave(): void
  /** Whether pages were met under several addresses, or with a session, which makes it likely: they must be known again. */
  readonly hasAliases: boolean
}

const NO_LINKS: readonly NormalizedUrl[] = []
const VERSION = 8
/** Flags of what is written. */
const ALIASES = 1
const PLAIN_ADDRESSES = 2
/** Probes of one host that found nothing new: one for so many pages, and one at least. */
const PAGES_PER_PROBE = 100
/** Where so many pages of its kind were new, a lesson has its probe beside those: it is the likelier to be wrong. */
const PROVEN_GOOD = 2
/** A lesson has one probe, and one more each time that the pages read have doubled, from here on. */
const PAGES_FOR_SECOND_PROBE = 512
/** Written down when one page in eight is new since the last time, so that large hosts are not written all the time. */
const UNSAVED_SHARE = 8
const MAX_UNSAVED = 64
/** Up to twice as many pages all are sampled, then one of two under plain names, of four from twice as many on, of eight. */
const PAGES_IN_FULL = 512
const LEAST_SHARE = 8

/**
 * A host has one room of memory, another from half as many pages on, and one more for each time as many, up to a limit. A
 * room has some 1.3 contents for each of these pages, and of a page with a query two are kept.
 */
const PAGES_PER_ROOM = 256
/** Where what is learned goes to other processes, as much as two rooms have is told at once. */
const ROOMS_TOLD_AT_ONCE = 2

export interface HostTrapsOptions {
  /** What was worked out of a URL is kept there while it is under way, for all hosts together. */
  readonly addresses?: Addresses
  /** Where large hosts take their memory from; without it they have no more than others. */
  readonly rooms?: Rooms
}

export function createHostTraps(stored: string | undefined, options: HostTrapsOptions = {}): HostTraps {
  const { addresses = NO_ADDRESSES, rooms = NO_ROOMS } = options
  let has = 1
  const lessons = createLessons()
  const memory = createMemory(() => has)
  const verdicts = createVerdicts(lessons, memory)
  let pages = 0
  let probes = 0
  let unsaved = 0
  let hasAliases = false
  /** Whether pages under plain addresses are read, and not links alone: if not, nothing is known of these. */
  let hasPlain = false
  const isUnknown = (url: NormalizedUrl): boolean => !hasPlain && !hasParts(url)

  const grow = (): void => {
    if (rooms.areShared && !hasAliases) return
    const wanted = Math.min(1 + Math.round(pages / PAGES_PER_ROOM), rooms.mostOfHost)
    if (wanted > has && rooms.take(wanted - has)) has = wanted
  }
  const letPass = (address: Address): void => {
    const idle = verdicts.idleParts(address)
    if (idle.size > 0 || memory.hasSessions) memory.letPass(address, idle)
  }
  /** Of a host whose pages are not read nothing is ever learned: then there is no use for all the hashes. */
  const isUntaught = (): boolean => pages === 0 && !lessons.mayHold()
  const leave = (): void => {
    rooms.giveBack(has - 1)
    has = 1
  }

  const reader = createReader(stored ?? '')
  if (reader.byte() === VERSION) {
    pages = reader.word()
    probes = reader.word()
    const flags = reader.byte()
    hasAliases = (flags & ALIASES) !== 0
    hasPlain = (flags & PLAIN_ADDRESSES) !== 0
    grow()
    memory.read(reader)
    lessons.read(reader)
    // Half a text is none.
    if (!reader.isWhole) {
      leave()
      return createHostTraps(undefined, options)
    }
  }
  /** Pages like this one of which one is sampled. What has parts or a date, is one of a row or is doubtful always is. */
  const likeIt = (address: Address): number => {
    if (pages < 2 * PAGES_IN_FULL || address.hasDate || address.parts.length > 0) return 1
    if (verdicts.isNested(address) && isDoubtful(lessons.find(NESTED))) return 1
    for (const { id, isWide } of address.subjects) {
      const lesson = lessons.find(id)
      if (isWide ? isDoubtful(lesson) : lesson !== undefined) return 1
    }
    // Whatever is aside and fetched all the same is a probe.
    if (verdicts.on(address) !== undefined) return 1
    return Math.min(LEAST_SHARE, 2 ** Math.floor(Math.log2(pages / PAGES_IN_FULL)))
  }
  return {
    judge(url) {
      if (isUntaught() || isUnknown(url))
        return isWithinRules(url) ? undefined : verdicts.byRule(url, shapeOf(url))?.reason
      return verdicts.on(addresses.of(url))?.reason
    },
    letPass(url) {
      if (!isUntaught() && !isUnknown(url)) letPass(addresses.of(url))
    },
    batch(underWay, batches = 1) {
      if (pages === 0) return () => true
      const admits = createBatch(lessons, memory, verdicts, underWay, pages, batches)
      return (url) => {
        if (isUnknown(url)) return true
        const address = addresses.of(url)
        if (!admits(address)) return false
        letPass(address)
        return true
      }
    },
    wantsSample(url) {
      if (pages < 2 * PAGES_IN_FULL || isUnknown(url)) return true
      const address = addresses.of(url)
      return (address.itself >>> 0) % likeIt(address) === 0
    },
    pass(url) {
      const address = addresses.of(url)
      memory.remember(address, verdicts.idleParts(address), undefined)
      addresses.forget(url)
      pages += 1
      unsaved += 1
      grow()
    },
    learn(url, sample, referrer, links = NO_LINKS) {
      const address = addresses.of(url)
      const wasAside = verdicts.on(address) !== undefined
      const lecture = { sample, referrer, links, standsFor: likeIt(address) }
      const { hasBegun, hasCeased, isAlias, isCopy } = teach(address, lecture, { lessons, memory, verdicts })
      // Of a session that has just been learned, too, the page is known without it.
      if (hasBegun) memory.letPass(address, verdicts.idleParts(address))
      addresses.forget(url)
      pages += 1
      unsaved += hasBegun || hasCeased ? MAX_UNSAVED : 1
      hasPlain ||= address.parts.length === 0 && !address.hasDate
      hasAliases ||= isAlias || address.parts.some(({ isSession }) => isSession)
      grow()
      // A copy acquits nobody; that it is not aside now is because it was read.
      const isAcquitted = wasAside && !isCopy && verdicts.on(address) === undefined
      if (isAcquitted) probes = Math.max(0, probes - 1)
      return hasCeased || isAcquitted
    },
    mayProbe(url) {
      const id = verdicts.on(addresses.of(url))?.id
      if (id === undefined) return false
      const lesson = lessons.open(id)
      const isDoubtful = lesson.good - Math.max(0, lesson.alike - lesson.streak) >= PROVEN_GOOD
      if (!isDoubtful && probes >= Math.max(1, Math.floor(pages / PAGES_PER_PROBE))) return false
      if (lesson.probes >= 1 + Math.floor(Math.log2(1 + pages / PAGES_FOR_SECOND_PROBE))) return false
      lesson.probes += 1
      if (!isDoubtful) probes += 1
      unsaved += MAX_UNSAVED
      return true
    },
    get changed() {
      const most = rooms.areShared ? Math.min(has, ROOMS_TOLD_AT_ONCE) : has
      return unsaved > 0 && unsaved >= Math.min(pages / UNSAVED_SHARE, most * MAX_UNSAVED)
    },
    get isSaved() {
      return unsaved === 0
    },
    serialise() {
      const writer = createWriter()
      writer.byte(VERSION)
      writer.word(pages)
      writer.word(probes)
      writer.byte((hasAliases ? ALIASES : 0) | (hasPlain ? PLAIN_ADDRESSES : 0))
      memory.write(writer)
      lessons.write(writer)
      unsaved = 0
      return writer.text()
    },
    leave,
    get hasAliases() {
      return hasAliases
    },
  }
}

/** Of what was never met, and of what may be about to be a lesson, every page counts. */
function isDoubtful(lesson: Lesson | undefined): boolean {
  return lesson === undefined || lesson.score > 0 || lesson.alike > 0 || lesson.kin > 0
}
