import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createZipWriter } from './zip-writer.ts'

let root: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'tiptoe-zip-test-'))
})
afterAll(() => rmSync(root, { recursive: true }))

const GIB = 1024 ** 3

interface Member {
  readonly name: string
  readonly data: string
  readonly atMost?: number
}

/** A file with a hole of `start` bytes before the ZIP. */
function zipOf(name: string, members: Iterable<Member>, start = 0): string {
  const image = Buffer.alloc(16 * 1024 ** 2)
  let bytes = start
  const zip = createZipWriter({
    get bytes() {
      return bytes
    },
    write(data) {
      image.set(Buffer.from(data as Uint8Array), bytes - start)
      bytes += data.length
    },
    patch: (position, data) => image.set(data, position - start),
  })
  for (const member of members) {
    const data = Buffer.from(member.data)
    zip.add(member.name, member.atMost ?? data.length, [data.subarray(0, 1), data.subarray(1)])
  }
  zip.finish()
  const path = join(root, name)
  const descriptor = openSync(path, 'w')
  writeSync(descriptor, image, 0, bytes - start, start)
  closeSync(descriptor)
  return path
}

const READER = `
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    entries = archive.infolist()
    assert len(entries) > 1000 or archive.testzip() is None
    print(json.dumps({
        'count': len(entries),
        'entries': [[e.filename, archive.read(e).decode(), e.compress_type, e.header_offset, e.date_time[0]] for e in entries[:5]],
    }))`

/** What a reader that is not ours finds. */
function readByPython(path: string): { count: number; entries: [string, string, number, number, number][] } {
  return JSON.parse(execFileSync('python3', ['-c', READER, path], { encoding: 'utf8' })) as never
}

const hasPython = (() => {
  try {
    execFileSync('python3', ['--version'])
    return true
  } catch {
    return false
  }
})()

describe.skipIf(!hasPython)('a ZIP file, read by Python', () => {
  it('holds its files as they are', () => {
    const path = zipOf('plain.zip', [
      { name: 'a.txt', data: 'hello' },
      { name: 'folder/é.txt', data: '' },
    ])
    expect(readByPython(path)).toEqual({
      count: 2,
      entries: [
        ['a.txt', 'hello', 0, 0, 1980],
        ['folder/é.txt', '', 0, 40, 1980],
      ],
    })
  })

  it('holds files behind the fourth gibibyte, and files that may be larger than that', () => {
    const start = 5 * GIB
    const path = zipOf(
      'far.zip',
      [
        { name: 'a', data: 'near', atMost: 6 * GIB },
        { name: 'b', data: 'far' },
      ],
      start,
    )
    const { entries } = readByPython(path)
    expect(entries.map(([name, data, , offset]) => [name, data, offset])).toEqual([
      ['a', 'near', start],
      ['b', 'far', start + 30 + 1 + 20 + 4],
    ])
  })

  it('holds more files than a short number can count', () => {
    const members = Array.from({ length: 65_600 }, (_, index) => ({ name: String(index), data: '' }))
    expect(readByPython(zipOf('many.zip', members)).count).toBe(65_600)
  })
})

describe('a ZIP file', () => {
  it('is refused when a file is larger than was said', () => {
    expect(() => zipOf('wrong.zip', [{ name: 'a', data: 'four', atMost: 3 }])).toThrow(RangeError)
  })
})
