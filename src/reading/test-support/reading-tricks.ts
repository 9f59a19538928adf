/**
 * A `readDocument` that does what real parsers must not: it goes on for ever, fills the memory inside or outside of the
 * heap, bit by bit or at one go, or fails, as the path of the document's URL says. Of any other document it says that
 * path as the title.
 */
import type { DocumentInput, PageReading } from '../document.ts'

export function readDocument(input: DocumentInput): Partial<PageReading> | Promise<never> {
  const path = new URL(input.url).pathname
  if (path === '/loop') for (;;);
  if (path === '/heap') fill((size) => Array.from({ length: size }, (_, index) => ({ index })))
  if (path === '/buffers') fill((size) => new Uint8Array(20 * size).fill(1))
  // oxlint-disable-next-line no-new-array -- one piece at one go is what is meant
  if (path === '/one-array') return hold(new Array<number>(30_000_000).fill(0.5))
  if (path === '/one-string') return hold(flat(`${'x'.repeat(400_000_000)}y`))
  if (path === '/one-buffer') return hold(new Uint8Array(2_000_000_000).fill(1))
  if (path === '/strings') fill((size) => flat(`${'long text '.repeat(10 * size)}.`))
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

/** Goes on for ever, with this in its hands. */
function hold(piece: unknown): never {
  const held = [piece]
  while (held.length > 0);
  throw new Error('it was let go')
}

/** The same text in one piece, which it has to be in to be asked for a unit. */
function flat(text: string): string {
  return text.charCodeAt(1) > 0 ? text : ''
}
