/** The values of switches, read: whole numbers and lists of them, each within stated bounds. */
import { parseDurationMs, parseSizeBytes } from '../../base/index.ts'
import { TiptoeError } from '../../model/index.ts'

export interface Bounds {
  readonly least: number
  readonly most: number
}

export function countIn(text: string, flag: string, { least, most }: Bounds): number {
  const plain = text.trim().replaceAll(/[,_](?=\d{3}\b)/g, '')
  const value = /^\d{1,15}$/.test(plain) ? Number(plain) : NaN
  if (value >= least && value <= most) return value
  throw new TiptoeError(
    'usage',
    `${flag}: expected a whole number from ${least} to ${most}; found ${JSON.stringify(text)}`,
  )
}

/** Values side by side with commas or spaces, in order and each once. */
export function countsIn(text: string, flag: string, bounds: Bounds, most: number): number[] {
  const parts = text.split(/[\s,]+/).filter(Boolean)
  if (parts.length === 0 || parts.length > most) {
    throw new TiptoeError('usage', `${flag}: expected 1 to ${most} numbers; found ${JSON.stringify(text)}`)
  }
  return [...new Set(parts.map((part) => countIn(part, flag, bounds)))].sort((a, b) => a - b)
}

export function durationIn(text: string, flag: string): number {
  const value = parseDurationMs(text)
  if (value !== undefined) return value
  throw new TiptoeError('usage', `${flag}: expected a duration such as 200ms, 1s or 2m; found ${JSON.stringify(text)}`)
}

export function sizeIn(text: string, flag: string): number {
  const value = parseSizeBytes(text)
  if (value !== undefined && value <= MOST_BYTES) return value
  throw new TiptoeError('usage', `${flag}: expected a size such as 500B, 30KB or 1MB; found ${JSON.stringify(text)}`)
}

/** Larger pages are cut by every crawl. */
const MOST_BYTES = 100_000_000
