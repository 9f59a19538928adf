/** Rows and keys as bytes, for the engines that know nothing else. Keys are big-endian, so that they sort by number. */
import type { NewUrl, Row } from './engine.ts'

const ROW_HEAD_BYTES = 40

export function rowBytes(item: NewUrl): Buffer {
  const bytes = Buffer.alloc(ROW_HEAD_BYTES + Buffer.byteLength(item.url))
  bytes.writeUInt32LE(item.lane, 0)
  bytes.writeUInt32LE(item.rank, 4)
  bytes.writeUInt32LE(item.referrer, 8)
  bytes.writeUInt32LE(1, 28)
  bytes.write(item.url, ROW_HEAD_BYTES)
  return bytes
}

export function readRow(bytes: Buffer, id: number): Row {
  const url = bytes.toString('utf8', ROW_HEAD_BYTES)
  return { id, lane: bytes.readUInt32LE(0), rank: bytes.readUInt32LE(4), url }
}

export function settledRow(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes)
  copy.writeUInt8(3, 12)
  copy.writeDoubleLE(at, 16)
  return copy
}

export function rowWithReferrer(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  copy.writeUInt32LE(copy.readUInt32LE(28) + 1, 28)
  return copy
}

export function numberKey(...parts: readonly number[]): Buffer {
  const key = Buffer.alloc(4 * parts.length)
  parts.forEach((part, index) => key.writeUInt32BE(part, 4 * index))
  return key
}

export function hostBytes(due: number, at: number): Buffer {
  const bytes = Buffer.alloc(64)
  bytes.writeDoubleLE(due, 0)
  bytes.writeDoubleLE(at, 8)
  return bytes
}
