/**
 * Finds names of HTML, which know no case, by the units of a page, without cutting them out. Names are short and of
 * ASCII letters, digits and hyphens; all other units differ from every name.
 */

/** A table for up to half as many names. */
const PLACES = 512
/** The hash of no units. */
export const NO_UNITS = 0

export class NameTable {
  /** No name is longer. */
  readonly #longest: number
  /** By place, that of a name's hash or the next one that was free: the name's number and 1. */
  readonly #numbers = new Uint8Array(PLACES)
  readonly #lengths: Uint8Array
  /** The units of all names, as many for each as the longest has. */
  readonly #units: Uint8Array

  /** Of at most 255 names in lower case. */
  constructor(names: readonly string[]) {
    this.#longest = Math.max(...names.map((name) => name.length))
    this.#lengths = Uint8Array.from(names, (name) => name.length)
    this.#units = new Uint8Array(names.length * this.#longest)
    names.forEach((name, number) => {
      const units = Uint16Array.from(name, (character) => character.charCodeAt(0))
      this.#units.set(units, number * this.#longest)
      let place = placeOf(hashOf(units, 0, name.length))
      while (this.#numbers[place] !== 0) place = (place + 1) & (PLACES - 1)
      this.#numbers[place] = number + 1
    })
  }

  /** The number of the name between two places, in whatever case; -1 for none. */
  find(units: Uint16Array, from: number, to: number): number {
    return to - from > this.#longest ? -1 : this.findHashed(hashOf(units, from, to), units, from, to)
  }

  /** The same for who has made the hash of its units on the way, by `hashWith`. */
  findHashed(hash: number, units: Uint16Array, from: number, to: number): number {
    let place = placeOf(hash)
    for (;;) {
      const number = (this.#numbers[place] as number) - 1
      if (number < 0 || this.#isName(number, units, from, to)) return number
      place = (place + 1) & (PLACES - 1)
    }
  }

  #isName(number: number, units: Uint16Array, from: number, to: number): boolean {
    if (this.#lengths[number] !== to - from) return false
    const start = number * this.#longest - from
    for (let at = from; at < to; at++) {
      const unit = units[at] as number
      const lower = unit >= 65 && unit <= 90 ? unit | 32 : unit
      if (lower !== this.#units[start + at]) return false
    }
    return true
  }
}

/** The hash of some units and one more. */
export function hashWith(hash: number, unit: number): number {
  return (Math.imul(hash, 31) + (unit | 32)) | 0
}

function hashOf(units: Uint16Array, from: number, to: number): number {
  let hash = NO_UNITS
  for (let at = from; at < to; at++) hash = hashWith(hash, units[at] as number)
  return hash
}

function placeOf(hash: number): number {
  return (hash ^ (hash >>> 9)) & (PLACES - 1)
}
