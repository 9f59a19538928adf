/**
 * What happened in a world, in order: the last lines in words, and a digest of all of them, so that two runs can be
 * proven to be the same. Lines are put into words only when somebody wants to read them.
 */

/** Lines kept for reading. */
const LINES_KEPT = 200

export interface Trace {
  note(what: string, subject: string, detail: string | number): void
  /** The last lines, oldest first. */
  lines(count?: number): string[]
  /** 16 hex digits over everything noted so far. */
  digest(): string
}

interface Line {
  at: number
  what: string
  subject: string
  detail: string | number
}

export function createTrace(now: () => number): Trace {
  const ring: Line[] = []
  let count = 0
  let low = 0x811c9dc5
  let high = 0x01000193

  const mix = (value: number): void => {
    low = Math.imul(low ^ value, 0x01000193)
    high = Math.imul(high ^ (value + (low >>> 15)), 0x85ebca6b)
  }
  const mixText = (text: string): void => {
    for (let index = 0; index < text.length; index++) mix(text.charCodeAt(index))
    mix(text.length)
  }
  const mixNumber = (value: number): void => {
    mix(value | 0)
    mix(((value - Math.floor(value)) * 4_294_967_296) | 0)
    mix((value / 4_294_967_296) | 0)
  }

  return {
    note(what, subject, detail) {
      const at = now()
      mixNumber(at)
      mixText(what)
      mixText(subject)
      if (typeof detail === 'number') mixNumber(detail)
      else mixText(detail)
      const line = ring[count % LINES_KEPT]
      if (line === undefined) ring.push({ at, what, subject, detail })
      else {
        line.at = at
        line.what = what
        line.subject = subject
        line.detail = detail
      }
      count += 1
    },
    lines(wanted = LINES_KEPT) {
      const length = Math.min(count, LINES_KEPT, wanted)
      return Array.from({ length }, (_, index) => {
        const { at, what, subject, detail } = ring[(count - length + index) % LINES_KEPT] as Line
        return `${(at / 1_000).toFixed(3).padStart(12)} s  ${what.padEnd(9)} ${subject} ${detail}`.trimEnd()
      })
    },
    digest: () => [high, low].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join(''),
  }
}
