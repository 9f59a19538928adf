/** One name in several spellings, and the nearest known name to a mistyped one. */

/** `maxPages` → `max-pages`. */
export function kebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** `maxPages` → `TIPTOE_MAX_PAGES`. */
export function variableName(name: string): string {
  return `TIPTOE_${kebabCase(name).replaceAll('-', '_').toUpperCase()}`
}

/** Longer words are no typing mistake of any name of ours, and comparing them costs the product of the lengths. */
const MAX_COMPARED_LENGTH = 40

/** The candidate that `word` most likely meant, or undefined when none is near: one slip in three letters. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const plain = simplify(word)
  if (plain.length > MAX_COMPARED_LENGTH) return undefined
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(plain.length / 3)) + 1
  for (const candidate of candidates) {
    const distance = editDistance(plain, simplify(candidate))
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Case and separators make no other word: `maxpages`, `max_pages` and `max-pages` are one. */
function simplify(word: string): string {
  return word.toLowerCase().replace(/[-_]/g, '')
}

/** Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const substitution = (last[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      let cost = Math.min(substitution, (last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1)
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1)
      }
      current.push(cost)
    }
    beforeLast = last
    last = current
  }
  return last[b.length] ?? 0
}
