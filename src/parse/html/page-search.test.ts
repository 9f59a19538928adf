import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CLOSE_TAG, END, HtmlScanner, OPEN_TAG } from './html-scanner.ts'
import { HREF, HTML_VOCABULARY, REL } from './html-vocabulary.ts'
import { searchIn, slowSearchIn, type PageSearch } from './page-search.ts'
import { sourceOfText } from './page-source.ts'

const MARKS = [
  '<',
  '>',
  '</',
  '/',
  '=',
  ' ',
  '\n',
  '\f',
  '"',
  "'",
  '<!--',
  '-->',
  '<!',
  '<?',
  'é',
  '\0',
  'x'.repeat(17),
]
const TAGS = [
  '<a ',
  '<A ',
  '<a',
  '</a>',
  '<area ',
  '<p>',
  '<p ',
  '</p >',
  '<td class=x>',
  '<main>',
  '<title>',
  '</title>',
]
const OTHER_TAGS = ['<script>', '</script>', '<svg>', `<${'y'.repeat(31)}>`, `<${'z'.repeat(40)} `]
const ATTRIBUTES = ['href=', 'HREF=', 'hre', 'rel=', 'Rel', 'rel ', 'href', ' a="b" ', "='c' ", '"d"']
const piece = fc.constantFrom(...MARKS, ...TAGS, ...OTHER_TAGS, ...ATTRIBUTES)
const page = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''))

/** What a reader who passes over unknown tags learns from a page: the tags it stops at, and plain links. */
function learned(html: string, searchOf: (bytes: Buffer) => PageSearch): unknown[] {
  const source = sourceOfText(html)
  const found: unknown[] = []
  const onLink = (start: number, end: number): void => void found.push(['link', start, end])
  const scanner = new HtmlScanner({ ...source, search: searchOf(source.bytes) }, HTML_VOCABULARY, onLink)
  for (;;) {
    const token = scanner.next(false, false, false)
    if (token === END) return found
    if (token === OPEN_TAG) scanner.readAsText()
    const isPlain = scanner.name === 'a' && (token === CLOSE_TAG || !scanner.has(REL))
    if (!isPlain) found.push([token, scanner.name, scanner.get(HREF)])
    else if (token === OPEN_TAG && scanner.has(HREF)) onLink(scanner.startOf(HREF), scanner.endOf(HREF))
  }
}

test('tags and links are those that are found without passing anything over', () => {
  fc.assert(
    fc.property(page, (html) => {
      expect(learned(html, searchIn)).toEqual(learned(html, slowSearchIn))
    }),
    { numRuns: 5_000 },
  )
})

test('a page with more links than are noted at once loses none', () => {
  const html = Array.from({ length: 5_000 }, (_, index) => `<td><a class="x" href="/${index}">y</a></td>`).join('\n')
  const found = learned(html, searchIn)
  expect(found).toHaveLength(5_000)
  expect(found).toEqual(learned(html, slowSearchIn))
})

test('bytes are found wherever they stand, in pages of any size', () => {
  const bytes = fc.array(fc.constantFrom(0, 0x3c, 0x3e, 0xff), { maxLength: 70 })
  fc.assert(
    fc.property(bytes, fc.constantFrom(0, 0x3c, 0xff), fc.nat(70), (list, byte, from) => {
      const source = Buffer.from(list)
      const start = Math.min(from, source.length)
      expect(searchIn(source).find(byte, start)).toBe(slowSearchIn(source).find(byte, start))
    }),
  )
})

test('two pages can be searched in turns, one of them very large', () => {
  const small = Buffer.from('ab<c')
  const large = Buffer.alloc(6_000_000, 'x')
  large[5_999_999] = 0x3c
  const [inSmall, inLarge] = [searchIn(small), searchIn(large)]
  for (let turn = 0; turn < 3; turn++) {
    expect(inSmall.find(0x3c, 0)).toBe(2)
    expect(inLarge.find(0x3c, 0)).toBe(5_999_999)
  }
})
