/** The text of a URL from the numbers of its host and of itself: about 70 characters, and never the same twice. */

const WORDS = (
  'amber anchor autumn basin beacon bridge canvas castle cedar circle coastal copper delta distant eastern ember field ' +
  'forest garden gentle glacier golden granite harbor hidden island ivory journal kettle lantern library linen market ' +
  'meadow mineral modern morning mountain museum northern ocean orchard paper pebble planet quarter quiet river saffron ' +
  'silver simple station stone summer timber travel valley velvet village violet weather western willow winter'
).split(' ')
const SECTIONS = ['news', 'articles', 'products', 'docs', 'blog', 'guides', 'archive', 'reviews', 'topics', 'events']
const PREFIXES = ['www.', 'www.', 'www.', 'blog.', 'docs.', 'shop.', '', '']

/** Parts are joined at once, so that the text is one piece of memory, as it is when it comes from a parser. */
export function textOf(host: number, number: number): string {
  const seed = mix(Math.imul(host, 0x9e3779b1) ^ number)
  const parts = ['https://', ...nameParts(host), '/']
  if (number > 0) parts.push(...pathParts(seed, number.toString(36)))
  return parts.join('')
}

function nameParts(host: number): string[] {
  const seed = mix(host ^ 0x5bd1e995)
  return [pick(PREFIXES, seed), pick(WORDS, seed >>> 4), '-', pick(WORDS, seed >>> 14), host.toString(36), '.example']
}

function pathParts(seed: number, name: string): string[] {
  const [first, second, third] = [pick(WORDS, seed >>> 3), pick(WORDS, seed >>> 9), pick(WORDS, seed >>> 15)]
  const section = pick(SECTIONS, seed >>> 21)
  switch (seed & 7) {
    case 0:
      return [section, '?category=', first, '&sort=', second, '&item=', name]
    case 1:
    case 2:
      return [section, '/', first, '/', second, '-', third, '-', name, '.html']
    case 3:
      return [section, '/', first, '/', second, '/', third, '/', name, '/']
    default:
      return [section, `/20${10 + (seed % 15)}/`, first, '-', second, '-', third, '-', name]
  }
}

const pick = (list: readonly string[], seed: number): string => list[seed % list.length] ?? ''

/** One to one on 32 bits, and even. */
export function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
