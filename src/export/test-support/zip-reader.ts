/**
 * A second reader of ZIP files, which takes nothing on trust: sizes, checksums and names must agree between an entry
 * and the directory, files are stored as they are, and an entry with an extra field has one in the directory too.
 */
import { readFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'

/** Files by name, in their order. */
export function readZip(path: string): Map<string, Buffer> {
  const zip = readFileSync(path)
  const end = zip.length - 22
  equal(zip.readUInt32LE(end), 0x0605_4b50, 'end of the directory')
  const count = zip.readUInt16LE(end + 10)
  let at = zip.readUInt32LE(end + 16)
  equal(at + zip.readUInt32LE(end + 12), end, 'size of the directory')
  const files = new Map<string, Buffer>()
  let next = 0
  for (let index = 0; index < count; index++) {
    equal(zip.readUInt32LE(at), 0x0201_4b50, 'entry of the directory')
    const [crc, packed, size] = [zip.readUInt32LE(at + 16), zip.readUInt32LE(at + 20), zip.readUInt32LE(at + 24)]
    const [nameLength, extraLength] = [zip.readUInt16LE(at + 28), zip.readUInt16LE(at + 30)]
    const local = zip.readUInt32LE(at + 42)
    const name = zip.subarray(at + 46, at + 46 + nameLength).toString()
    equal(zip.readUInt16LE(at + 10), 0, `compression of ${name}`)
    equal(packed, size, `sizes of ${name}`)
    equal(local, next, `place of ${name}`)
    equal(zip.readUInt32LE(local), 0x0403_4b50, `beginning of ${name}`)
    equal(zip.readUInt16LE(local + 6) & 8, 0, `descriptor behind ${name}`)
    equal(zip.readUInt32LE(local + 14), crc, `checksum before ${name}`)
    equal(zip.readUInt32LE(local + 22), size, `size before ${name}`)
    equal(zip.readUInt16LE(local + 28), extraLength, `extra field of ${name}`)
    equal(zip.subarray(local + 30, local + 30 + nameLength).toString(), name, 'name')
    const start = local + 30 + nameLength + extraLength
    const data = zip.subarray(start, start + size)
    equal(crc32(data), crc, `checksum of ${name}`)
    files.set(name, data)
    next = start + size
    at += 46 + nameLength + extraLength
  }
  equal(files.size, count, 'number of files')
  return files
}

function equal(found: unknown, expected: unknown, what: string): void {
  if (found !== expected) throw new Error(`${what}: found ${String(found)}, expected ${String(expected)}`)
}
