/**
 * Deflate (RFC 1951) for what is put together in a memory of its own, by a small program in WebAssembly (the folder wasm).
 * It takes half of the time that zlib takes at its fastest level, and has nothing to set up for each text. Where there is
 * no WebAssembly, zlib does it.
 */
import { deflateRawSync } from 'node:zlib'
import { DEFLATER_CODE } from './deflater-code.ts'

export interface Deflater {
  /** Where a text is put, anywhere in it, before it is deflated. What was there before is in the way of nobody. */
  readonly room: Buffer
  /** What the text between these places becomes; it is there until the next is deflated. At most `MAX_TEXT_BYTES`. */
  deflate(start: number, end: number): Uint8Array
  /**
   * The same in one block by the code for heads and named fields, which costs next to nothing; undefined where it has a
   * character that the code has not. Behind it the last byte is filled up, after the type of the block that `next`
   * says; if none follows, this block is the last.
   */
  packText(start: number, end: number, next?: StoredBlock): Uint8Array | undefined
}

/** The type of a block of bytes that are kept as they are (RFC 1951 §3.2.4), in three bits. */
export const STORED = 0
export const STORED_LAST = 1
export type StoredBlock = typeof STORED | typeof STORED_LAST

export const MAX_TEXT_BYTES = 1088 * 1024

/** Places in the memory of the program, as wasm/deflate-layout.ts has them. */
const TEXT = 0x4_0000
const DEFLATED = 0x16_0000

const NONE_FOLLOWS = -1

interface Program {
  readonly memory: { readonly buffer: ArrayBuffer }
  /** Returns where what it made ends. */
  deflate(start: number, end: number): number
  /** The same, or 0. `next` is `NONE_FOLLOWS`, or the type of a block. */
  packText(start: number, end: number, next: number): number
}

/** As much of it as is used: the types at hand have it for browsers only. */
declare const WebAssembly: {
  readonly Module: new (code: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: unknown }
}

let started: Deflater | undefined

/** The one of this thread, for one text at a time. Most crawls archive nothing, so it is made when it is first needed. */
export function theDeflater(): Deflater {
  started ??= startDeflater(startProgram())
  return started
}

/** Without a program by zlib. */
export function startDeflater(program: Program | undefined): Deflater {
  if (program === undefined) {
    const room = Buffer.allocUnsafeSlow(MAX_TEXT_BYTES)
    return {
      room,
      deflate: (start, end) => deflateRawSync(room.subarray(start, end), { level: 1 }),
      packText: () => undefined,
    }
  }
  const memory = Buffer.from(program.memory.buffer)
  return {
    room: memory.subarray(TEXT, TEXT + MAX_TEXT_BYTES),
    deflate: (start, end) => memory.subarray(DEFLATED, program.deflate(TEXT + start, TEXT + end)),
    packText(start, end, next) {
      const packedEnd = program.packText(TEXT + start, TEXT + end, next ?? NONE_FOLLOWS)
      return packedEnd === 0 ? undefined : memory.subarray(DEFLATED, packedEnd)
    },
  }
}

/** Undefined where there is no WebAssembly, or no memory for it. */
function startProgram(): Program | undefined {
  try {
    const module = new WebAssembly.Module(Buffer.from(DEFLATER_CODE, 'base64'))
    return new WebAssembly.Instance(module).exports as Program
  } catch {
    return undefined
  }
}
