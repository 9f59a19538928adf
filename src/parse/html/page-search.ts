/**
 * Finds places in the bytes of a page: sixteen bytes at a time, by a small program in WebAssembly (wasm/page-search.ts),
 * which is three times as fast as the same in JavaScript. It has a memory of its own, into which the page is copied, and
 * can neither read nor write anywhere else. Each thread has one, for one page at a time: a page that was put aside for
 * another is copied again.
 *
 * A page that is too large for that memory is searched the plain way, and so is every page where the processor is too old
 * or no memory can be had: bytes are found, and no tag is passed over.
 */
import type { NameShapes } from './name-table.ts'
import { PAGE_SEARCH_CODE } from './page-search-code.ts'

export interface PageSearch {
  /** The place of the next such byte, or the size of the page. */
  find(byte: number, from: number): number
  /**
   * The place of a `<` before which there are only text and tags that can be passed over, or the size of the page. These
   * are tags with names of other shapes than these, and, where links are taken, start tags of `a` with an `href` and no
   * `rel`, which are told in their order, and its end tags.
   */
  pass(from: number, shapes: NameShapes, onLink: ((valueStart: number, valueEnd: number) => void) | undefined): number
}

/** Of the memory: see wasm/page-search.ts. */
const LINK_COUNT = 0x1000 / 4
const LINKS = 0x1010 / 4
const PAGE = 0x4000

/** Larger pages are rare. */
const MAX_PAGE_BYTES = 4_194_304

/** As much of it as is used: the types at hand have it for browsers only. */
declare const WebAssembly: {
  readonly Module: new (code: Uint8Array) => Program
  readonly Instance: new (program: Program) => { readonly exports: unknown }
}

/** What was compiled. */
type Program = object

interface Machine {
  readonly memory: { readonly buffer: ArrayBuffer }
  find(byte: number, from: number, end: number): number
  pass(from: number, end: number, takesLinks: number): number
}

const machine = startMachine()
const bytes = new Uint8Array(machine?.memory.buffer ?? new ArrayBuffer(0))
const words = new Int32Array(machine?.memory.buffer ?? new ArrayBuffer(0))
/** The page in the memory, and the shapes. */
let page: Uint8Array | undefined
let marked: NameShapes | undefined

export function searchIn(source: Buffer): PageSearch {
  return machine === undefined || source.length > MAX_PAGE_BYTES ? slowSearchIn(source) : fastSearchIn(source, machine)
}

function fastSearchIn(source: Buffer, { find, pass }: Machine): PageSearch {
  const size = source.length
  return {
    find(byte, from) {
      if (page !== source) load(source)
      return find(byte, from, size)
    },
    pass(from, shapes, onLink) {
      if (page !== source) load(source)
      if (marked !== shapes) {
        bytes.set(shapes)
        marked = shapes
      }
      const place = pass(from, size, onLink === undefined ? 0 : 1)
      if (onLink !== undefined) {
        const end = LINKS + 2 * (words[LINK_COUNT] as number)
        for (let at = LINKS; at < end; at += 2) onLink(words[at] as number, words[at + 1] as number)
      }
      return place
    },
  }
}

function load(source: Uint8Array): void {
  bytes.set(source, PAGE)
  page = source
}

/** The plain way. Exported for the tests, whose processor is not too old. */
export function slowSearchIn(source: Buffer): PageSearch {
  const find = (byte: number, from: number): number => {
    const place = source.indexOf(byte, from)
    return place === -1 ? source.length : place
  }
  return { find, pass: (from) => find(0x3c, from) }
}

/** Nothing where WebAssembly cannot take sixteen bytes at a time, or has no memory. */
function startMachine(): Machine | undefined {
  try {
    const program = new WebAssembly.Module(Buffer.from(PAGE_SEARCH_CODE, 'base64'))
    return new WebAssembly.Instance(program).exports as Machine
  } catch {
    return undefined
  }
}
