/**
 * Which earlier page a page repeats. Texts are compared by fingerprints that differ in at most three bits; the answer is
 * the page that the group of copies began with. What was judged is remembered at once, so two pages that come in the
 * same moment see each other, and it lasts as the file does.
 *
 * A page only ever repeats one whose first visit was judged before its own, so no two pages are each other's copies,
 * however often they are visited again and whatever they say then.
 *
 * Between half of `maxEntries` pages and all of them are known, the youngest, with 48 bytes each and 6 MB at most beside.
 * A text that is met again and again takes one place, not many.
 */
import { createSystemDisk, fingerprint, type Disk } from '../base/index.ts'
import { createNearHashes, highWord, lowWord } from '../content/index.ts'
import { openFingerprintFile } from './fingerprint-file.ts'
import { createMemoryStore, type FingerprintRecord, type FingerprintStore } from './fingerprint-store.ts'

export interface JudgedPage {
  readonly url: string
  /** The fingerprint of its text, as `textFingerprint` has it. */
  readonly near: bigint
  /** `sha256:` and the hex digest of its content. */
  readonly contentHash: string
}

export interface Repetition {
  /** The page that the group of copies began with. */
  readonly url: string
  /** Bits, to the text of the group that is nearest. */
  readonly distance: number
  /** The content is the same to the letter, not only nearly. */
  readonly isSame: boolean
}

export interface Fingerprints {
  /** The page that this one repeats, if there is one. Remembers this one. */
  judge(page: JudgedPage): Repetition | undefined
  /** Bytes of the file, all of them written. */
  readonly length: number
  /** Writes what was judged. */
  write(): void
  /** What was written is on the disk, not only with the operating system. */
  sync(): void
  close(): void
}

/** Near enough to be the same page, for 64 bits (Manku and others, 2007). */
const DISTANCE = 3
const URL_KEY = { a: 0x9e3779b9, b: 0x85ebca6b }

/** Notes beside a text. */
const ORIGINAL = 0
const DIGEST = 1
/** The note beside a URL. */
const FIRST = 0

/**
 * Without a path it lasts as long as the process; then it has the URLs in memory, too. With no entries nothing is
 * judged, and the file stays as it is.
 */
export function openFingerprints(
  path: string | undefined,
  committed: number,
  options: { readonly disk?: Disk; readonly maxEntries: number },
): Fingerprints {
  const { disk = createSystemDisk(), maxEntries } = options
  const store =
    path === undefined ? createMemoryStore(maxEntries) : openFingerprintFile(path, committed, maxEntries, disk)
  const judge = maxEntries > 0 ? createJudge(store, maxEntries) : () => undefined
  return {
    judge,
    get length() {
      return store.length
    },
    write: () => store.write(),
    sync: () => store.sync(),
    close: () => store.close(),
  }
}

function createJudge(store: FingerprintStore, maxEntries: number): Fingerprints['judge'] {
  const texts = createNearHashes({ distance: DISTANCE, capacity: maxEntries, notes: 2 })
  const urls = createNearHashes({ distance: 0, capacity: maxEntries, notes: 1 })
  const hash = { hi: 0, lo: 0 }

  const remember = (record: Readonly<FingerprintRecord>, place: number): void => {
    if (record.isNewText) {
      const slot = texts.add(record.nearLow, record.nearHigh)
      texts.setNote(slot, ORIGINAL, record.original || place)
      texts.setNote(slot, DIGEST, record.digest)
    }
    if (record.isNewUrl) urls.setNote(urls.add(record.urlLow, record.urlHigh), FIRST, record.first || place)
  }
  store.load((record) => remember(record, 0))

  return ({ url, near, contentHash }) => {
    const nearLow = lowWord(near)
    const nearHigh = highWord(near)
    const digest = Number.parseInt(contentHash.slice('sha256:'.length, 'sha256:'.length + 8), 16) | 0
    fingerprint(url, URL_KEY, hash)
    const urlLow = hash.lo | 0
    const urlHigh = hash.hi | 0

    let first = 0
    let isNewUrl = true
    urls.find(urlLow, urlHigh, (slot) => {
      first = urls.note(slot, FIRST) >>> 0
      // What is in the older half will be forgotten before long, and is remembered anew.
      if (urls.isYoung(slot)) isNewUrl = false
    })

    let nearest = -1
    let distance = DISTANCE + 1
    let original = 0
    const equals: number[] = []
    texts.find(nearLow, nearHigh, (slot, apart) => {
      const its = texts.note(slot, ORIGINAL) >>> 0
      if (apart === 0 && texts.isYoung(slot)) equals.push(its)
      if (first !== 0 && its >= first) return
      if (apart > distance || (apart === distance && its > original)) return
      nearest = slot
      distance = apart
      original = its
    })
    let repeated = nearest === -1 ? undefined : store.urlAt(original)
    if (repeated === url) {
      // Its own first visit, from before what is known of URLs.
      first = original
      repeated = undefined
    }
    if (repeated === undefined) original = first

    const itsDigest = repeated === undefined ? digest : texts.note(nearest, DIGEST)
    const isNewText = original === 0 || !equals.includes(original)
    if (isNewText || isNewUrl) {
      const record = { nearLow, nearHigh, digest: itsDigest, urlLow, urlHigh, first, original, isNewText, isNewUrl }
      const place = store.add(url, record)
      if (place !== 0) remember(record, place)
    }
    return repeated === undefined ? undefined : { url: repeated, distance, isSame: itsDigest === digest }
  }
}
