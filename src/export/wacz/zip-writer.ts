/**
 * A ZIP file, written front to back: files are stored as they are, each with its size and checksum before its data, and
 * ZIP64 where a number needs it (APPNOTE 6.3.10). The same entries give the same bytes.
 *
 * Readers that take an entry's data to begin right behind its name when the central directory has no extra field for it
 * (wabac.js does) are right here: an entry has one there whenever it has one at its data.
 */
import { crc32 } from 'node:zlib'
import type { DraftFile } from '../drafts.ts'

const MAX_32 = 0xffff_ffff
const MAX_16 = 0xffff
/** 1 January 1980, 0:00: the first time that ZIP knows. When a file was made says nothing about what is in it. */
const DOS_DATE = 0x0021
const NEEDS_20 = 20
const NEEDS_64 = 45
/** Names are in UTF-8. */
const UTF_8 = 0x0800
const CRC_OFFSET = 14

export interface ZipWriter {
  /** Adds a file of at most `atMost` bytes. */
  add(name: string, atMost: number, data: Iterable<Uint8Array>): void
  /** Writes the directory; nothing can be added any more. */
  finish(): void
}

interface Entry {
  readonly name: Buffer
  readonly crc: number
  readonly size: number
  readonly offset: number
  readonly isLarge: boolean
}

export function createZipWriter(file: Pick<DraftFile, 'bytes' | 'write' | 'patch'>): ZipWriter {
  const entries: Entry[] = []
  return {
    add(text, atMost, data) {
      const name = Buffer.from(text)
      const offset = file.bytes
      const isLarge = atMost >= MAX_32
      file.write(localHeader(name, { crc: 0, size: 0, isLarge }))
      let crc = 0
      let size = 0
      for (const bytes of data) {
        crc = crc32(bytes, crc)
        size += bytes.length
        if (size > atMost) throw new RangeError(`${text} is larger than the ${atMost} bytes announced`)
        file.write(bytes)
      }
      const header = localHeader(name, { crc, size, isLarge })
      file.patch(offset + CRC_OFFSET, header.subarray(CRC_OFFSET))
      entries.push({ name, crc, size, offset, isLarge })
    },
    finish() {
      const start = file.bytes
      for (const entry of entries) file.write(centralHeader(entry))
      writeEnd(file, entries.length, start)
    },
  }
}

function localHeader(
  name: Buffer,
  { crc, size, isLarge }: { readonly crc: number; readonly size: number; readonly isLarge: boolean },
): Buffer {
  const extra = isLarge ? extraField([size, size]) : Buffer.alloc(0)
  const header = Buffer.alloc(30)
  header.writeUInt32LE(0x0403_4b50, 0)
  header.writeUInt16LE(isLarge ? NEEDS_64 : NEEDS_20, 4)
  header.writeUInt16LE(UTF_8, 6)
  header.writeUInt16LE(DOS_DATE, 12)
  header.writeUInt32LE(crc, CRC_OFFSET)
  header.writeUInt32LE(isLarge ? MAX_32 : size, 18)
  header.writeUInt32LE(isLarge ? MAX_32 : size, 22)
  header.writeUInt16LE(name.length, 26)
  header.writeUInt16LE(extra.length, 28)
  return Buffer.concat([header, name, extra])
}

function centralHeader({ name, crc, size, offset, isLarge }: Entry): Buffer {
  const isFar = offset >= MAX_32
  const large = [...(isLarge ? [size, size] : []), ...(isFar ? [offset] : [])]
  const extra = large.length === 0 ? Buffer.alloc(0) : extraField(large)
  const header = Buffer.alloc(46)
  header.writeUInt32LE(0x0201_4b50, 0)
  header.writeUInt16LE(NEEDS_64, 4)
  header.writeUInt16LE(large.length === 0 ? NEEDS_20 : NEEDS_64, 6)
  header.writeUInt16LE(UTF_8, 8)
  header.writeUInt16LE(DOS_DATE, 14)
  header.writeUInt32LE(crc, 16)
  header.writeUInt32LE(isLarge ? MAX_32 : size, 20)
  header.writeUInt32LE(isLarge ? MAX_32 : size, 24)
  header.writeUInt16LE(name.length, 28)
  header.writeUInt16LE(extra.length, 30)
  header.writeUInt32LE(isFar ? MAX_32 : offset, 42)
  return Buffer.concat([header, name, extra])
}

/** The numbers that do not fit, in the order that APPNOTE §4.5.3 has. */
function extraField(numbers: readonly number[]): Buffer {
  const field = Buffer.alloc(4 + 8 * numbers.length)
  field.writeUInt16LE(1, 0)
  field.writeUInt16LE(8 * numbers.length, 2)
  for (const [index, number] of numbers.entries()) field.writeBigUInt64LE(BigInt(number), 4 + 8 * index)
  return field
}

function writeEnd(file: Pick<DraftFile, 'bytes' | 'write'>, count: number, start: number): void {
  const size = file.bytes - start
  if (count >= MAX_16 || size >= MAX_32 || start >= MAX_32) {
    const position = file.bytes
    const record = Buffer.alloc(56)
    record.writeUInt32LE(0x0606_4b50, 0)
    record.writeBigUInt64LE(44n, 4)
    record.writeUInt16LE(NEEDS_64, 12)
    record.writeUInt16LE(NEEDS_64, 14)
    record.writeBigUInt64LE(BigInt(count), 24)
    record.writeBigUInt64LE(BigInt(count), 32)
    record.writeBigUInt64LE(BigInt(size), 40)
    record.writeBigUInt64LE(BigInt(start), 48)
    const locator = Buffer.alloc(20)
    locator.writeUInt32LE(0x0706_4b50, 0)
    locator.writeBigUInt64LE(BigInt(position), 8)
    locator.writeUInt32LE(1, 16)
    file.write(Buffer.concat([record, locator]))
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x0605_4b50, 0)
  end.writeUInt16LE(Math.min(count, MAX_16), 8)
  end.writeUInt16LE(Math.min(count, MAX_16), 10)
  end.writeUInt32LE(Math.min(size, MAX_32), 12)
  end.writeUInt32LE(Math.min(start, MAX_32), 16)
  file.write(end)
}
