/** Run files without a disk, for simulated crawls and tests. They outlive the sets that are opened on them. */
import type { RunFiles } from './run-files.ts'

const FIRST_BYTES = 1_024

interface Content {
  bytes: Uint8Array
  size: number
}

export function createMemoryRunFiles(): RunFiles {
  const contents = new Map<string, Content>()
  return {
    place: 'memory',
    list: () => [...contents.keys()],
    create(name) {
      const content: Content = { bytes: new Uint8Array(FIRST_BYTES), size: 0 }
      contents.set(name, content)
      return {
        append(bytes) {
          const size = content.size + bytes.length
          if (size > content.bytes.length) {
            const larger = new Uint8Array(Math.max(size, content.bytes.length * 2))
            larger.set(content.bytes)
            content.bytes = larger
          }
          content.bytes.set(bytes, content.size)
          content.size = size
        },
        sync: () => undefined,
        finish() {
          content.bytes = content.bytes.slice(0, content.size)
        },
        abandon: () => contents.delete(name),
      }
    },
    open(name) {
      const content = contents.get(name)
      if (content === undefined) return undefined
      const bytes = content.bytes.subarray(0, content.size)
      return {
        size: bytes.length,
        read(into, offset) {
          if (offset + into.length > bytes.length) throw new RangeError(`${name} ends before what is to be read`)
          into.set(bytes.subarray(offset, offset + into.length))
        },
        close: () => undefined,
      }
    },
    remove: (name) => contents.delete(name),
  }
}
