/**
 * `*` and `$`, RFC 9309 §2.2.3, in time linear in the path. A pattern is cut at its stars; the pieces are looked for
 * from left to right, each as early as possible, and no piece is ever looked for twice: if an early place does not lead
 * to a match, no later one would. Every octet passed on the way is counted, so that a caller with many patterns can stop.
 */

export interface Pattern {
  /** Stands at the very beginning of the path. */
  readonly prefix: string
  /** Stand after it in this order, with anything between them. */
  readonly pieces: readonly Piece[]
  /** Stands at the very end, behind the last star; undefined when the pattern does not end in `$`. */
  readonly ending: string | undefined
  readonly hasStar: boolean
  /** A shorter path cannot match. */
  readonly minimumLength: number
}

/** What is left of the work that one verdict may cost, in octets passed; may fall below zero by one pattern's work. */
export interface Steps {
  left: number
}

interface Piece {
  readonly text: string
  /** How far to fall back at each position (Knuth, Morris, Pratt); made when first needed, for long pieces only. */
  fallback: Int32Array | undefined
}

/**
 * Up to this length `indexOf` stays linear: V8 searches by Boyer and Moore, with tables for the last 250 characters.
 * Beyond them a piece like `aab…aa` makes it read the path again and again, so longer pieces are searched by our own.
 */
const SHORT_PIECE = 200

/** What it costs to begin a search, and to pass an octet in a search of our own, in octets passed by `indexOf`. */
const STEPS_PER_PIECE = 20
const STEPS_PER_OCTET_OF_LONG = 4

const NO_PIECES: readonly Piece[] = []

/** Takes canonical octets; see `canonical.ts`. */
export function compilePattern(canonical: string): Pattern {
  const isAnchored = canonical.endsWith('$')
  const body = isAnchored ? canonical.slice(0, -1) : canonical
  if (!body.includes('*')) {
    // Without a star the prefix is the whole: its ending is the empty string, at a fixed place.
    const ending = isAnchored ? '' : undefined
    return { prefix: body, pieces: NO_PIECES, ending, hasStar: false, minimumLength: body.length }
  }
  const [prefix = '', ...rest] = body.split('*')
  const ending = isAnchored ? rest.pop() : undefined
  const pieces = rest.filter((text) => text !== '').map((text): Piece => ({ text, fallback: undefined }))
  const minimumLength = pieces.reduce((sum, piece) => sum + piece.text.length, prefix.length + (ending?.length ?? 0))
  return { prefix, pieces, ending, hasStar: true, minimumLength }
}

export function matchesPattern(pattern: Pattern, path: string, steps: Steps): boolean {
  if (path.length < pattern.minimumLength || !path.startsWith(pattern.prefix)) return false
  if (!pattern.hasStar) return pattern.ending === undefined || path.length === pattern.prefix.length
  let at = pattern.prefix.length
  for (const piece of pattern.pieces) {
    const isShort = piece.text.length <= SHORT_PIECE
    const found = isShort ? path.indexOf(piece.text, at) : indexOfLong(path, piece, at)
    const end = found < 0 ? path.length : found + piece.text.length
    steps.left -= STEPS_PER_PIECE + (end - at) * (isShort ? 1 : STEPS_PER_OCTET_OF_LONG)
    if (found < 0) return false
    at = end
  }
  if (pattern.ending === undefined) return true
  return path.length - pattern.ending.length >= at && path.endsWith(pattern.ending)
}

function indexOfLong(path: string, piece: Piece, from: number): number {
  const { text } = piece
  const fallback = (piece.fallback ??= fallbackOf(text))
  let matched = 0
  let wanted = text.charCodeAt(0)
  for (let at = from; at < path.length; at++) {
    const code = path.charCodeAt(at)
    while (matched > 0 && wanted !== code) {
      matched = fallback[matched - 1] ?? 0
      wanted = text.charCodeAt(matched)
    }
    if (wanted !== code) continue
    if (++matched === text.length) return at + 1 - matched
    wanted = text.charCodeAt(matched)
  }
  return -1
}

/** For each position, the length of the longest proper beginning of the text that also ends there. */
function fallbackOf(text: string): Int32Array {
  const fallback = new Int32Array(text.length)
  let matched = 0
  for (let at = 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    while (matched > 0 && text.charCodeAt(matched) !== code) matched = fallback[matched - 1] ?? 0
    if (text.charCodeAt(matched) === code) matched++
    fallback[at] = matched
  }
  return fallback
}
