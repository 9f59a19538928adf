/**
 * Counts how many of many 32-bit words have each bit set. The counters of all bits lie across the words of the ballot:
 * word k holds the k-th digit of every counter, so that a few logical operations count on all of them at once. Eight
 * words are added together before a carry has to travel (Harley and Seal; Warren, Hacker's Delight, §5-1).
 */

export interface Ballot {
  /** The k-th digits of the counters, in binary. */
  readonly digits: Int32Array
  /** Words that were added. */
  cast: number
}

/** Words are added by this many: an array of them has a length that is a multiple. */
const GROUP = 8
/** The digits within a group. */
const CARRIED = 3

export function createBallot(): Ballot {
  return { digits: new Int32Array(32), cast: 0 }
}

export function beginVote(ballot: Ballot): void {
  ballot.digits.fill(0)
  ballot.cast = 0
}

/** Adds the first `count` words; what stands behind them in their group is set to zero. */
export function addVotes(ballot: Ballot, words: Int32Array, count: number): void {
  const { digits } = ballot
  ballot.cast += count
  const end = (count + GROUP - 1) & -GROUP
  for (let at = count; at < end; at++) words[at] = 0
  let ones = digits[0] as number
  let twos = digits[1] as number
  let fours = digits[2] as number
  for (let at = 0; at < end; at += GROUP) {
    // Of three words: their sum's digit is left in one, the carry goes up. As in a full adder, 32 times at once.
    let first = words[at] as number
    let second = words[at + 1] as number
    let either = ones ^ first
    let twosA = (ones & first) | (either & second)
    ones = either ^ second

    first = words[at + 2] as number
    second = words[at + 3] as number
    either = ones ^ first
    let twosB = (ones & first) | (either & second)
    ones = either ^ second

    either = twos ^ twosA
    const foursA = (twos & twosA) | (either & twosB)
    twos = either ^ twosB

    first = words[at + 4] as number
    second = words[at + 5] as number
    either = ones ^ first
    twosA = (ones & first) | (either & second)
    ones = either ^ second

    first = words[at + 6] as number
    second = words[at + 7] as number
    either = ones ^ first
    twosB = (ones & first) | (either & second)
    ones = either ^ second

    either = twos ^ twosA
    const foursB = (twos & twosA) | (either & twosB)
    twos = either ^ twosB

    either = fours ^ foursA
    let carry = (fours & foursA) | (either & foursB)
    fours = either ^ foursB

    for (let digit = CARRIED; carry !== 0; digit++) {
      const before = digits[digit] as number
      digits[digit] = before ^ carry
      carry &= before
    }
  }
  digits[0] = ones
  digits[1] = twos
  digits[2] = fours
}

/** A word with the bits that more than half of the words have set. */
export function majority({ digits, cast }: Ballot): number {
  const half = cast >>> 1
  let more = 0
  let equal = -1
  for (let digit = 31; digit >= 0; digit--) {
    const ones = digits[digit] as number
    const halfs = -((half >>> digit) & 1)
    more |= equal & ones & ~halfs
    equal &= ~(ones ^ halfs)
  }
  return more
}
