/**
 * Memory for members of gzip, from when they are made until they are written. They share larger pieces: each with one of
 * its own would be so many more for the collector. A piece whose members were all given back is used again; one of which
 * some were not is the collector's, like any other memory.
 */
const PIECE_BYTES = 256 * 1024
/** A longer member has memory of its own, which is not used again. */
const MAX_MEMBER_BYTES = PIECE_BYTES / 8
/** So many empty pieces are kept. */
const MAX_EMPTY = 32

interface Piece {
  readonly memory: Buffer
  used: number
  /** Members in it that were not given back. */
  members: number
}

const pieces = new WeakMap<ArrayBufferLike, Piece>()
const empty: Piece[] = []
let current = createPiece()

export function memoryFor(bytes: number): Buffer {
  if (bytes > MAX_MEMBER_BYTES) return Buffer.allocUnsafeSlow(bytes)
  if (current.used + bytes > PIECE_BYTES) current = empty.pop() ?? createPiece()
  const { memory, used } = current
  current.used += bytes
  current.members++
  return memory.subarray(used, used + bytes)
}

/** Nobody looks at this member any more. To be said once, if at all. */
export function giveBack(member: Uint8Array): void {
  const piece = pieces.get(member.buffer)
  if (piece === undefined || --piece.members > 0) return
  piece.used = 0
  if (piece !== current && empty.length < MAX_EMPTY) empty.push(piece)
}

function createPiece(): Piece {
  const memory = Buffer.allocUnsafeSlow(PIECE_BYTES)
  const piece = { memory, used: 0, members: 0 }
  pieces.set(memory.buffer, piece)
  return piece
}
