/**
 * Finds places in the bytes of a page: sixteen bytes at a time, by a small program in WebAssembly (wasm/page-search.ts),
 * which is three times as fast as the same in JavaScript. It has a memory of its own, into which the page is copied, and
 * can neither read nor write anywhere else. Each thread has one, for one page at a time: a page that was put aside for
 * another is copied again.
 *
 * Where the processor is too old for it, the same is done slowly: bytes are found, and no tag is passed over.
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

/** A memory that has grown beyond this for one page is not kept for the next. */
const MAX_KEPT_BYTES = 4_194_304

/** As much of it as is used: the types at hand have it for browsers only. */
declare const WebAssembly: {
  validate(code: Uint8Array): boolean
  readonly Module: new (code: Uint8Array) => Program
  readonly Instance: new (program: Program) => { readonly exports: unknown }
}

/** What was compiled. */
type Program = object

interface Machine {
  readonly memory: { readonly buffer: ArrayBuffer }
  reserve(size: number): number
  find(byte: number, from: number, end: number): number
  pass(from: number, end: number, takesLinks: number): number
}

const program = compiled()
let machine: Machine | undefined
let bytes = new Uint8Array(0)
let words = new Int32Array(0)
/** The page in the memory, and the shapes. */
let page: Uint8Array | undefined
let marked: NameShapes | undefined

export function searchIn(source: Buffer): PageSearch {
  return program === undefined ? slowSearchIn(source) : fastSearchIn(source, program)
}

function fastSearchIn(source: Buffer, program: Program): PageSearch {
  const size = source.length
  return {
    find(byte, from) {
      return machineFor(source, program).find(byte, from, size)
    },
    pass(from, shapes, onLink) {
      const { pass } = machineFor(source, program)
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

/** Exported for the tests alone, which have no processor that is too old. */
export function slowSearchIn(source: Buffer): PageSearch {
  const find = (byte: number, from: number): number => {
    const place = source.indexOf(byte, from)
    return place === -1 ? source.length : place
  }
  return { find, pass: (from) => find(0x3c, from) }
}

function machineFor(source: Uint8Array, program: Program): Machine {
  if (page === source && machine !== undefined) return machine
  const size = PAGE + source.length
  if (machine === undefined || (bytes.length > MAX_KEPT_BYTES && size <= MAX_KEPT_BYTES)) {
    machine = new WebAssembly.Instance(program).exports as Machine
    marked = undefined
  }
  if (machine.reserve(source.length) === 0) throw new RangeError(`no memory for a page of ${source.length} bytes`)
  if (bytes.buffer !== machine.memory.buffer) {
    bytes = new Uint8Array(machine.memory.buffer)
    words = new Int32Array(machine.memory.buffer)
  }
  bytes.set(source, PAGE)
  page = source
  return machine
}

/** Nothing where WebAssembly cannot take sixteen bytes at a time. */
function compiled(): Program | undefined {
  const code = Buffer.from(PAGE_SEARCH_CODE, 'base64')
  return WebAssembly.validate(code) ? new WebAssembly.Module(code) : undefined
}
