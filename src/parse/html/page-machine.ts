/**
 * A small program in WebAssembly (the folder wasm) that looks at the bytes of a page, sixteen at a time. It has a memory of
 * its own, into which the page is copied, and can neither read nor write anywhere else. Each thread has one, for one page
 * at a time: a page that was put aside for another is copied again.
 */
import type { NameShapes } from './name-table.ts'
import { PAGE_MACHINE_CODE } from './page-machine-code.ts'

/** What the program can do: see wasm/page-machine.ts. */
interface Program {
  readonly memory: { readonly buffer: ArrayBuffer }
  find(byte: number, from: number, end: number): number
  pass(from: number, end: number, takesLinks: number): number
  findReference(start: number, end: number): number
  findReferences(count: number): void
  rememberReference(id: number): void
  forgetReferences(): void
  hashOfPage(size: number): bigint
}

export interface PageMachine extends Omit<Program, 'memory'> {
  /** Puts a page in, if it is not there; one of at most `MAX_PAGE_BYTES`. */
  load(page: Uint8Array): void
  /** Puts in which names are not passed over. */
  mark(shapes: NameShapes): void
  /** Its memory as numbers, from the places below on. */
  readonly words: Int32Array
}

/** Larger pages are rare. */
export const MAX_PAGE_BYTES = 4_194_304

/** Places in `words`, as wasm/layout.ts has them. */
export const LINK_COUNT = 0x1000 / 4
export const LINKS = 0x1010 / 4
export const BASES = 0x41_0000 / 4
export const REFERENCES = 0x41_1000 / 4
export const MAX_REFERENCES = 4_096

const PAGE = 0x4000

/** As much of it as is used: the types at hand have it for browsers only. */
declare const WebAssembly: {
  readonly Module: new (code: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: unknown }
}

/** Undefined where WebAssembly cannot take sixteen bytes at a time, or has no memory. */
export const pageMachine: PageMachine | undefined = startMachine()

function startMachine(): PageMachine | undefined {
  const program = startProgram()
  if (program === undefined) return undefined
  const { memory, ...verbs } = program
  const bytes = new Uint8Array(memory.buffer)
  let loaded: Uint8Array | undefined
  let marked: NameShapes | undefined
  return {
    ...verbs,
    words: new Int32Array(memory.buffer),
    load(page) {
      if (loaded === page) return
      bytes.set(page, PAGE)
      loaded = page
    },
    mark(shapes) {
      if (marked === shapes) return
      bytes.set(shapes)
      marked = shapes
    },
  }
}

function startProgram(): Program | undefined {
  try {
    const module = new WebAssembly.Module(Buffer.from(PAGE_MACHINE_CODE, 'base64'))
    return new WebAssembly.Instance(module).exports as Program
  } catch {
    return undefined
  }
}
