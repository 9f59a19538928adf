/**
 * What a class attribute means, worked out once: a site has a few hundred of them, met on every page. They are found by
 * the page's units, without cutting them out. Bounded: when it is full, it begins anew.
 */

/** Attributes that are remembered, and places to find them, of which at most half are taken. */
const MAX_REMEMBERED = 4096
const PLACES = 2 * MAX_REMEMBERED
/** Units of all that are remembered. */
const MAX_UNITS = 64 * 1024
/** Most class attributes are short; a longer one is a style sheet in disguise, and its head is enough. */
const MAX_CLASS_LENGTH = 512
/** Looked at for one attribute, so that none that were made to meet in one place cost much. */
const MAX_STEPS = 8
/** Of a long one, as many units at its beginning and its end tell it from most others. */
const HASHED = 12

export class ClassMemory<Meaning> {
  readonly #read: (value: string) => Meaning
  /** By place: the number of one that is remembered, and 1. */
  readonly #numbers = new Uint16Array(PLACES)
  /** By number: what it means, and just behind its last unit; its first is behind the last of the one before. */
  readonly #meanings: Meaning[] = []
  readonly #ends = new Int32Array(MAX_REMEMBERED)
  readonly #units = new Uint16Array(MAX_UNITS)

  /** `read` works out what one means. */
  constructor(read: (value: string) => Meaning) {
    this.#read = read
  }

  /** What the class attribute between two places of a page means. */
  meaningOf(units: Uint16Array, from: number, to: number): Meaning {
    let place = placeOf(units, from, to)
    for (let step = 0; step < MAX_STEPS; step++) {
      const number = (this.#numbers[place] as number) - 1
      if (number < 0) break
      if (this.#is(number, units, from, to)) return this.#meanings[number] as Meaning
      place = (place + 1) % PLACES
    }
    const meaning = this.#read(String.fromCharCode(...units.subarray(from, Math.min(to, from + MAX_CLASS_LENGTH))))
    if (to - from <= MAX_CLASS_LENGTH) this.#remember(place, units, from, to, meaning)
    return meaning
  }

  #is(number: number, units: Uint16Array, from: number, to: number): boolean {
    const start = this.#startOf(number)
    if ((this.#ends[number] as number) - start !== to - from) return false
    for (let at = from, own = start; at < to; at++, own++) if (units[at] !== this.#units[own]) return false
    return true
  }

  #startOf(number: number): number {
    return number === 0 ? 0 : (this.#ends[number - 1] as number)
  }

  /** At a place that is free, or else belongs to one that is no more found. */
  #remember(place: number, units: Uint16Array, from: number, to: number, meaning: Meaning): void {
    let number = this.#meanings.length
    if (number >= MAX_REMEMBERED || this.#startOf(number) + to - from > MAX_UNITS) {
      this.#numbers.fill(0)
      this.#meanings.length = 0
      number = 0
    }
    const start = this.#startOf(number)
    this.#units.set(units.subarray(from, to), start)
    this.#ends[number] = start + to - from
    this.#meanings.push(meaning)
    this.#numbers[place] = number + 1
  }
}

/** The names in a class attribute. */
export function classTokens(value: string): string[] {
  return value.slice(0, MAX_CLASS_LENGTH).toLowerCase().split(/\s+/)
}

function placeOf(units: Uint16Array, from: number, to: number): number {
  let hash = to - from
  const headEnd = Math.min(to, from + HASHED)
  for (let at = from; at < headEnd; at++) hash = (Math.imul(hash, 31) + (units[at] as number)) | 0
  for (let at = Math.max(headEnd, to - HASHED); at < to; at++) hash = (Math.imul(hash, 31) + (units[at] as number)) | 0
  return (hash ^ (hash >>> 13)) & (PLACES - 1)
}
