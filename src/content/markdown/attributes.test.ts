import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AttributeNotes, Attributes, findTagEnd } from './attributes.ts'
import { pageOf } from './page.ts'

/** What a page that begins with a tag of one letter has read from it. */
function read(html: string): { readonly end: number; readonly attributes: Attributes } {
  const notes = new AttributeNotes(pageOf(html))
  const end = notes.readTag(2)
  return { end, attributes: new Attributes(notes).at(notes.last) }
}

describe('the attributes of a tag', () => {
  test('are found in quotes of both kinds, without, and without a value', () => {
    const { end, attributes } = read(`<a href="/x?a=1>2" class='b "c"' id=d/e hidden title=t>text`)
    expect(end).toBe(55)
    expect(attributes.href).toBe('/x?a=1>2')
    expect(attributes.class).toBe('b "c"')
    expect(attributes.id).toBe('d/e')
    expect(attributes.hidden).toBe('')
    expect(attributes.role).toBeUndefined()
  })

  test('are the first of their name, in whatever case', () => {
    expect(read('<a CLASS=one class=two>').attributes.class).toBe('one')
  })

  test('may have space around the sign, a slash behind, and none between them', () => {
    const { attributes } = read('<a\n class\t=\n"b"id = c href="d"/>')
    expect([attributes.class, attributes.id, attributes.href]).toEqual(['b', 'c', 'd'])
  })

  test('of a tag without any that is wanted are none', () => {
    const { attributes } = read('<a title="x" rel=y>')
    expect(attributes.isEmpty).toBe(true)
    expect(attributes.class).toBeUndefined()
  })

  test('may be long', () => {
    const value = 'x'.repeat(1000)
    expect(read(`<a style="${value}" id=b>`).attributes.id).toBe('b')
    expect(read(`<a style="${value}">`).attributes.style).toBe(value)
  })

  test('of an odd tag are found as well', () => {
    expect(read('<a =x id=b>').attributes.id).toBe('b')
    expect(read('<a id==b>').attributes.id).toBe('=b')
    expect(read('<a id=b="c>d" class=e>').attributes.class).toBe('e')
    expect(read('<a id=b\0c class=d>').attributes.class).toBe('d')
  })

  test('of a tag that never ends are those before the end of the text', () => {
    for (const html of ['<a id=b class="c', '<a id=b class=c', '<a id=b class', '<a id=b class=', '<a id=b ']) {
      const { end, attributes } = read(html)
      expect(end).toBe(-1)
      expect(attributes.id).toBe('b')
    }
  })

  test('stay where they are while those of many tags are read', () => {
    const tags = Array.from({ length: 5_000 }, (_, at) => `<a id=n${at} class="c${at}">`)
    const html = tags.join('')
    const notes = new AttributeNotes(pageOf(html))
    const places: number[] = []
    for (let at = 0; at < html.length; places.push(notes.last)) at = notes.readTag(at + 2)
    const attributes = new Attributes(notes)
    places.forEach((place, at) => {
      expect(attributes.at(place).id).toBe(`n${at}`)
      expect(attributes.class).toBe(`c${at}`)
    })
  })

  test('do not change where any tag ends', () => {
    const piece = fc.constantFrom(' ', '=', '"', "'", '/', '>', 'id', 'class', '\0', '<', '\n', 'é', 'x'.repeat(50))
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 16 }), (pieces) => {
        const html = `<a${pieces.join('')}`
        expect(read(html).end).toBe(findTagEnd(pageOf(html), 2))
      }),
      { numRuns: 1000 },
    )
  })
})
