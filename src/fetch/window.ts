/**
 * How far a decoder may look back: it holds as much in memory, whatever comes of it. One decoder holds what its format
 * allows; those of several codings on top of each other share a limit, so that a stack of them costs little more than one.
 */
import { constants } from 'node:zlib'
import { LIMITS } from '../model/index.ts'
import type { Coding } from './coding.ts'
import { codeOf } from './failure.ts'

/** RFC 7932 §9.1: 16 MiB, but for 16 bytes. */
const MAX_BROTLI_LOG = 24
/** 8 MiB: what RFC 9659 lets a server ask of a client. Without it a frame could claim 128 MiB. */
const MAX_ZSTD_LOG = 23

/** The largest window of each decoder, as a power of two. That of gzip and deflate is 32 KiB, and does not count. */
export function maxWindowLogOf(codings: readonly Coding[]): number {
  const large = codings.filter((coding) => coding === 'br' || coding === 'zstd').length
  return Math.min(MAX_BROTLI_LOG, Math.floor(Math.log2(LIMITS.windows.value / Math.max(large, 1))))
}

/** A body that asks for more memory than it gets; it will hardly ask for less next time. */
export class TooLargeWindow extends Error {}

/** Throws a `TooLargeWindow`; `bytes` is the beginning of the stream, at least one. */
export function checkBrotliWindow(bytes: Uint8Array, maxWindowLog: number): void {
  if (brotliWindowLog(bytes[0] ?? 0) > maxWindowLog) throw new TooLargeWindow()
}

/** RFC 7932 §9.1: from one to seven bits. */
function brotliWindowLog(first: number): number {
  if ((first & 1) === 0) return 16
  const high = (first >> 1) & 7
  if (high > 0) return 17 + high
  const low = (first >> 4) & 7
  return low === 0 ? 17 : 8 + low
}

/** zstd looks itself, at each of its frames. */
export const zstdParams = (maxWindowLog: number): Record<number, number> => ({
  [constants.ZSTD_d_windowLogMax]: Math.min(maxWindowLog, MAX_ZSTD_LOG),
})

export const isTooLargeWindow = (error: unknown): boolean =>
  error instanceof TooLargeWindow || codeOf(error) === 'ZSTD_error_frameParameter_windowTooLarge'
