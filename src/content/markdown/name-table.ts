/**
 * Finds names of HTML, which know no case, by the units of a page, without cutting them out. Names are short and of
 * ASCII letters, digits and hyphens; all other units differ from every name.
 */

/** No name in a table is longer. */
const MAX_NAME_LENGTH = 16
/** A table for up to half as many names. */
const PLACES = 512

export class NameTable {
  readonly #names: readonly string[]
  /** By place, that of a name's hash or the next one that was free: the name's number and 1. */
  readonly #numbers = new Uint8Array(PLACES)
  /** The units of all names, MAX_NAME_LENGTH for each. */
  readonly #units: Uint8Array

  /** Of at most 255 names in lower case. */
  constructor(names: readonly string[]) {
    this.#names = names
    this.#units = new Uint8Array(names.length * MAX_NAME_LENGTH)
    names.forEach((name, number) => {
      const units = Uint16Array.from(name, (character) => character.charCodeAt(0))
      this.#units.set(units, number * MAX_NAME_LENGTH)
      let place = placeOf(units, 0, name.length)
      while (this.#numbers[place] !== 0) place = (place + 1) % PLACES
      this.#numbers[place] = number + 1
    })
  }

  /** The number of the name between two places, in whatever case; -1 for none. */
  find(units: Uint16Array, from: number, to: number): number {
    if (to - from > MAX_NAME_LENGTH) return -1
    let place = placeOf(units, from, to)
    for (;;) {
      const number = (this.#numbers[place] as number) - 1
      if (number < 0 || this.#isName(number, units, from, to)) return number
      place = (place + 1) % PLACES
    }
  }

  #isName(number: number, units: Uint16Array, from: number, to: number): boolean {
    if ((this.#names[number] as string).length !== to - from) return false
    const start = number * MAX_NAME_LENGTH - from
    for (let at = from; at < to; at++) {
      const unit = units[at] as number
      const lower = unit >= 65 && unit <= 90 ? unit | 32 : unit
      if (lower !== this.#units[start + at]) return false
    }
    return true
  }
}

function placeOf(units: Uint16Array, from: number, to: number): number {
  let hash = to - from
  for (let at = from; at < to; at++) hash = Math.imul(hash, 31) + ((units[at] as number) | 32)
  return (hash ^ (hash >>> 9)) & (PLACES - 1)
}
