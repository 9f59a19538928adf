import { describe, expect, test } from 'vitest'
import type { AppendFile } from './append-file.ts'
import { gatherInto } from './gathering-file.ts'

/** A file that remembers each of its writes. */
function fileInMemory(): AppendFile & { readonly writes: Buffer[] } {
  const writes: Buffer[] = []
  const content = (): Buffer => Buffer.concat(writes)
  return {
    writes,
    get length() {
      return content().length
    },
    append: (data) => void writes.push(Buffer.from(data as Uint8Array)),
    read: (into, position) => void content().copy(into, 0, position),
    sync() {},
    close() {},
  }
}

describe('a file that gathers', () => {
  test('writes all that was appended in one go, and in order', () => {
    const file = fileInMemory()
    const gathering = gatherInto(file)
    gathering.append('é')
    gathering.append(Buffer.from('bc'))
    expect(file.writes).toEqual([])
    expect(gathering.length).toBe(4)
    gathering.write()
    gathering.write()
    expect(file.writes.map(String)).toEqual(['ébc'])
    expect(gathering.length).toBe(4)
  })

  test('has written what is read or synced', () => {
    const file = fileInMemory()
    const gathering = gatherInto(file)
    gathering.append('abc')
    const into = Buffer.alloc(2)
    gathering.read(into, 1)
    expect(into.toString()).toBe('bc')
    gathering.append('d')
    gathering.sync()
    expect(file.writes.map(String)).toEqual(['abc', 'd'])
  })

  test('never keeps more than a mebibyte back', () => {
    const file = fileInMemory()
    const gathering = gatherInto(file)
    for (let part = 0; part < 5; part++) gathering.append(Buffer.alloc(300_000))
    expect(gathering.length - file.length).toBeLessThan(1024 * 1024)
    expect(gathering.length).toBe(1_500_000)
  })

  test('keeps the order of what is small, and of what is larger than all it may gather', () => {
    const file = fileInMemory()
    const gathering = gatherInto(file)
    const parts = [
      'first',
      Buffer.alloc(70_000, 'second'),
      Buffer.alloc(1_100_000, 'third'),
      'é'.repeat(400_000),
      'last',
    ]
    for (const part of parts) gathering.append(part)
    gathering.write()
    expect(Buffer.concat(file.writes).equals(Buffer.concat(parts.map((part) => Buffer.from(part))))).toBe(true)
    expect(gathering.length).toBe(file.length)
  })
})
