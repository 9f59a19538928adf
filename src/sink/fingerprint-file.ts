/**
 * The file of fingerprints: for each page that was judged, what its text looks like, whose copy it is, and its URL. It
 * only grows, and follows the rule of all such files: what lies beyond the committed length is cut off on opening.
 *
 * A record is a head of 32 bytes and the URL in UTF-8, filled up to a multiple of 16: about 110 bytes for a usual URL.
 * It lies in a block of 64 KiB, which begins with the number of records before it, so the end of a long file can be
 * read alone. A record's place is counted in 16 bytes from the beginning of the file.
 *
 * Records wait in memory until they are written, at most 1 MiB of them.
 */
import type { Disk } from '../base/index.ts'
import { TiptoeError } from '../model/index.ts'
import { openAppendFile } from './append-file.ts'
import type { FingerprintRecord, FingerprintStore } from './fingerprint-store.ts'

const UNIT = 16
const BLOCK = 64 * 1024
const BLOCK_HEAD = UNIT
const HEAD = 32
const MAX_URL_BYTES = BLOCK - BLOCK_HEAD - HEAD
/** Also what is read at once on opening; whole blocks. */
const MAX_WAITING = 16 * BLOCK
/** Places have 32 bits: 64 GiB, some 600 million pages. */
const MAX_BYTES = UNIT * 2 ** 32

/** Where the fields of a head are. */
const NEAR_LOW = 0
const NEAR_HIGH = 4
const DIGEST = 8
const URL_LOW = 12
const URL_HIGH = 16
const FIRST = 20
const ORIGINAL = 24
const URL_BYTES = 28
const MARK = 30
/** Marks a head, and the version of its layout; the last two bits are flags. */
const RECORD = 0x7f04
const NEW_TEXT = 1
const NEW_URL = 2

/** `keep`: how many records are loaded. */
export function openFingerprintFile(path: string, committed: number, keep: number, disk: Disk): FingerprintStore {
  const file = openAppendFile(path, committed, disk)
  const waiting = Buffer.alloc(MAX_WAITING)
  let waitingBytes = 0
  let count = 0

  const damaged = (at: number): TiptoeError =>
    new TiptoeError('output', `${path} has no fingerprint at byte ${at}`, {
      hint: 'something else wrote to it: put the file back, or start over with --fresh',
    })
  const read = (at: number, bytes: Buffer): Buffer => {
    file.read(bytes, at)
    return bytes
  }
  const write = (): void => {
    if (waitingBytes > 0) file.append(waiting.subarray(0, waitingBytes))
    waitingBytes = 0
  }
  /** Makes room for a record behind what waits, with the block that it begins; returns where the record is. */
  const reserve = (size: number): number => {
    if (waitingBytes + 2 * BLOCK > MAX_WAITING) write()
    const used = (file.length + waitingBytes) % BLOCK
    const isFull = used + size > BLOCK
    const skipped = isFull ? BLOCK - used : 0
    const start = waitingBytes + skipped
    const at = used === 0 || isFull ? start + BLOCK_HEAD : start
    waiting.fill(0, waitingBytes, at + size)
    if (at > start) waiting.writeDoubleLE(count, start)
    waitingBytes = at + size
    return at
  }
  /** The records of some blocks that lie at this byte of the file; returns how many there are. */
  const readBlocks = (blocks: Buffer, from: number, take?: (record: FingerprintRecord) => void): number => {
    let records = 0
    for (let at = 0; at < blocks.length;) {
      if (at % BLOCK === 0) at += BLOCK_HEAD
      const left = BLOCK - (at % BLOCK)
      const mark = left < HEAD || at + HEAD > blocks.length ? 0 : blocks.readUInt16LE(at + MARK)
      if (mark === 0 && at + left <= blocks.length) {
        at += left
        continue
      }
      const size = (mark & ~(NEW_TEXT | NEW_URL)) === RECORD ? sizeOf(blocks.readUInt16LE(at + URL_BYTES)) : Infinity
      if (size > left || at + size > blocks.length) throw damaged(from + at)
      take?.(recordAt(blocks, at, mark))
      records++
      at += size
    }
    return records
  }
  const countBefore = (block: number): number => read(block * BLOCK, Buffer.alloc(BLOCK_HEAD)).readDoubleLE()

  return {
    get length() {
      return file.length
    },
    add(url, record) {
      const urlBytes = Buffer.byteLength(url)
      if (urlBytes > MAX_URL_BYTES || file.length + waitingBytes + 2 * BLOCK > MAX_BYTES) return 0
      const at = reserve(sizeOf(urlBytes))
      const place = (file.length + at) / UNIT
      waiting.writeInt32LE(record.nearLow, at + NEAR_LOW)
      waiting.writeInt32LE(record.nearHigh, at + NEAR_HIGH)
      waiting.writeInt32LE(record.digest, at + DIGEST)
      waiting.writeInt32LE(record.urlLow, at + URL_LOW)
      waiting.writeInt32LE(record.urlHigh, at + URL_HIGH)
      waiting.writeUInt32LE(record.first || place, at + FIRST)
      waiting.writeUInt32LE(record.original || place, at + ORIGINAL)
      waiting.writeUInt16LE(urlBytes, at + URL_BYTES)
      const flags = (record.isNewText ? NEW_TEXT : 0) | (record.isNewUrl ? NEW_URL : 0)
      waiting.writeUInt16LE(RECORD | flags, at + MARK)
      waiting.write(url, at + HEAD)
      count++
      return place
    },
    urlAt(place) {
      const at = place * UNIT
      if (at >= file.length) return urlIn(waiting, at - file.length)
      const head = read(at, Buffer.alloc(HEAD))
      if ((head.readUInt16LE(MARK) & ~(NEW_TEXT | NEW_URL)) !== RECORD) throw damaged(at)
      return read(at + HEAD, Buffer.alloc(head.readUInt16LE(URL_BYTES))).toString()
    },
    load(take) {
      const blocks = Math.ceil(file.length / BLOCK)
      if (blocks === 0) return
      const lastFrom = (blocks - 1) * BLOCK
      count = countBefore(blocks - 1) + readBlocks(read(lastFrom, Buffer.alloc(file.length - lastFrom)), lastFrom)
      // The last block that begins before the records that are to be loaded.
      let start = 0
      for (let behind = blocks; behind - start > 1;) {
        const middle = (start + behind) >>> 1
        if (countBefore(middle) <= count - keep) start = middle
        else behind = middle
      }
      const chunk = Buffer.alloc(MAX_WAITING)
      for (let from = start * BLOCK; from < file.length; from += MAX_WAITING) {
        readBlocks(read(from, chunk.subarray(0, Math.min(MAX_WAITING, file.length - from))), from, take)
      }
    },
    write,
    sync: () => file.sync(),
    close: () => file.close(),
  }
}

function sizeOf(urlBytes: number): number {
  return HEAD + Math.ceil(urlBytes / UNIT) * UNIT
}

function urlIn(bytes: Buffer, at: number): string {
  return bytes.toString('utf8', at + HEAD, at + HEAD + bytes.readUInt16LE(at + URL_BYTES))
}

const loaded: FingerprintRecord = {
  nearLow: 0,
  nearHigh: 0,
  digest: 0,
  urlLow: 0,
  urlHigh: 0,
  first: 0,
  original: 0,
  isNewText: false,
  isNewUrl: false,
}

/** One object for all, since there are millions. */
function recordAt(bytes: Buffer, at: number, mark: number): FingerprintRecord {
  loaded.nearLow = bytes.readInt32LE(at + NEAR_LOW)
  loaded.nearHigh = bytes.readInt32LE(at + NEAR_HIGH)
  loaded.digest = bytes.readInt32LE(at + DIGEST)
  loaded.urlLow = bytes.readInt32LE(at + URL_LOW)
  loaded.urlHigh = bytes.readInt32LE(at + URL_HIGH)
  loaded.first = bytes.readUInt32LE(at + FIRST)
  loaded.original = bytes.readUInt32LE(at + ORIGINAL)
  loaded.isNewText = (mark & NEW_TEXT) !== 0
  loaded.isNewUrl = (mark & NEW_URL) !== 0
  return loaded
}
