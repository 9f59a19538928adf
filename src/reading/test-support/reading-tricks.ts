/**
 * A `readDocument` that does what real parsers must not: it goes on for ever, fills the memory inside or outside of the
 * heap, or fails, as the path of the document's URL says. Of any other document it says that path as the title.
 */
import type { DocumentInput, PageReading } from '../document.ts'

export function readDocument(input: DocumentInput): Partial<PageReading> | Promise<never> {
  const path = new URL(input.url).pathname
  if (path === '/loop') for (;;);
  if (path === '/heap') fill((size) => Array.from({ length: size }, (_, index) => ({ index })))
  if (path === '/buffers') fill((size) => new Uint8Array(20 * size).fill(1))
  if (path === '/strings') fill((size) => 'long text '.repeat(size).split('').reverse().join(''))
  if (path === '/recursion') return readDocument({ ...input })
  if (path === '/throw') throw new TypeError('cannot\nread this')
  if (path === '/reject') return Promise.reject(new Error('cannot read that'))
  if (path === '/exit') process.exit(0)
  return { kind: 'page', title: path }
}

function fill(make: (size: number) => unknown): never {
  const kept: unknown[] = []
  for (;;) kept.push(make(50_000))
}
