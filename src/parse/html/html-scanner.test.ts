import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { parseFragment } from 'parse5'
import { describe, expect, test } from 'vitest'
import { decodeReferences } from '../../base/index.ts'
import { ENTITIES_WITHOUT_SEMICOLON, ENTITY_TABLE } from '../../base/entity-table.ts'
import { CLOSE_TAG, END, HtmlScanner, TEXT, type TextKind, type Vocabulary } from './html-scanner.ts'
import { sourceOfText } from './page-source.ts'

type Token =
  | ['StartTag', string, Record<string, string>, true?]
  | ['EndTag', string]
  | ['Character', string]
  | ['Comment', string]
  | ['DOCTYPE', ...unknown[]]

interface Case {
  readonly description: string
  readonly input: string
  readonly output: readonly Token[]
  readonly initialStates?: readonly string[]
  readonly lastStartTag?: string
  readonly doubleEscaped?: boolean
}

/** Takes in every name that is met. */
function growingVocabulary(): Vocabulary & { readonly names: string[] } {
  const names = ['']
  const idOf = (bytes: Uint8Array, start: number, end: number): number => {
    const name = spelled(Buffer.from(bytes.subarray(start, end)).toString('latin1'))
    const known = names.indexOf(name)
    return known === -1 ? names.push(name) - 1 : known
  }
  return {
    names,
    elements: { idOf: () => 0, shapes: new Uint8Array(4096) },
    elementNames: [''],
    hasAttributes: [true],
    attributes: { idOf, shapes: new Uint8Array(4096) },
    attributeCount: 32,
  }
}

/** A name as the standard has it, from one character for each byte. */
function spelled(latin1: string): string {
  const name = Buffer.from(latin1, 'latin1').toString('utf8')
  return name.replaceAll('\0', '\ufffd').replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** The beginning of a page that leads to a state of the tokenizer, and how the inside of its element is read. */
function entranceOf(state: string, lastStartTag: string): { start: string; kind?: TextKind } {
  const start = `<${lastStartTag}>`
  if (state === 'RCDATA state') return { start, kind: 'escapable' }
  if (state === 'RAWTEXT state') return { start, kind: 'raw' }
  if (state === 'Script data state') return { start, kind: 'script' }
  if (state === 'PLAINTEXT state') return { start, kind: 'plain' }
  return { start: state === 'CDATA section state' ? '<![CDATA[' : '' }
}

function scan(input: string, state = 'Data state', lastStartTag = 'none'): Token[] {
  const { start, kind } = entranceOf(state, lastStartTag)
  const vocabulary = growingVocabulary()
  const scanner = new HtmlScanner(sourceOfText(start + input.replaceAll(/\r\n?/g, '\n')), vocabulary)
  const tokens: Token[] = []
  if (kind !== undefined) {
    scanner.next(true, false)
    scanner.readAsText(kind)
  }
  for (;;) {
    const token = scanner.next(true, state === 'CDATA section state')
    if (token === END) return joined(tokens)
    if (token === TEXT) tokens.push(['Character', scanner.text()])
    else if (token === CLOSE_TAG) tokens.push(['EndTag', spelled(scanner.spelledName())])
    else {
      const attributes: Record<string, string> = {}
      vocabulary.names.forEach((name, id) => {
        const value = id === 0 ? undefined : scanner.get(id)
        if (value !== undefined) attributes[name] = value
      })
      const name = spelled(scanner.spelledName())
      tokens.push(scanner.isSelfClosing ? ['StartTag', name, attributes, true] : ['StartTag', name, attributes])
    }
  }
}

/** Text in one piece, without what this scanner passes over. */
function joined(tokens: readonly Token[]): Token[] {
  const result: Token[] = []
  for (const token of tokens) {
    const last = result.at(-1)
    if (token[0] === 'Comment' || token[0] === 'DOCTYPE') continue
    if (token[0] === 'Character' && last?.[0] === 'Character')
      result[result.length - 1] = ['Character', last[1] + token[1]]
    else result.push(token)
  }
  return result
}

function unescaped<T>(value: T): T {
  const text = JSON.stringify(value).replaceAll(/\\\\u([0-9A-Fa-f]{4})/g, String.raw`\u$1`)
  return JSON.parse(text) as T
}

describe('the cases of html5lib', () => {
  const folder = join(import.meta.dirname, '../../../test/vectors/html5lib')
  const files = readdirSync(folder).filter((file) => file.endsWith('.test'))

  test.each(files)('%s', (file) => {
    const { tests } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { tests: readonly Case[] }
    const failures: unknown[] = []
    let compared = 0
    for (const each of tests) {
      const { input, output } = each.doubleEscaped === true ? unescaped(each) : each
      // A lone surrogate is no text in any encoding, so no page has one.
      if (!input.isWellFormed()) continue
      for (const state of each.initialStates ?? ['Data state']) {
        compared++
        const found = scan(input, state, each.lastStartTag)
        try {
          expect(found).toEqual(joined(output))
        } catch {
          failures.push({ description: each.description, input, state, found, expected: joined(output) })
        }
      }
    }
    expect(failures).toEqual([])
    expect(compared).toBeGreaterThan(0)
  })
})

describe('character references', () => {
  const names = ENTITY_TABLE.trim()
    .split(/\s+/)
    .map((entry) => entry.slice(0, entry.indexOf(':')))
  const open = ENTITIES_WITHOUT_SEMICOLON.trim().split(/\s+/)
  const byParse5 = (reference: string): { text: string; attribute: string } => {
    const [element] = parseFragment(`<p title="${reference}">${reference}</p>`).childNodes
    if (element === undefined || !('attrs' in element)) throw new Error(`no element around ${reference}`)
    const [text] = element.childNodes
    return { text: text !== undefined && 'value' in text ? text.value : '', attribute: element.attrs[0]?.value ?? '' }
  }
  const bothWays = (reference: string): { text: string; attribute: string } => ({
    text: decodeReferences(reference, false),
    attribute: decodeReferences(reference, true),
  })

  test('have all names of the standard', () => {
    expect([names.length, open.length]).toEqual([2125, 106])
  })

  test.each([';', '', '=', 'x', ' ', 'x;'])('by every name before %j are those of parse5', (after) => {
    for (const name of names) {
      const reference = `&${name}${after}`
      expect({ reference, ...bothWays(reference) }).toEqual({ reference, ...byParse5(reference) })
    }
  })

  test('are those of parse5 in any mixture of their pieces', () => {
    const pieces = ['&', '#', 'x', 'X', '0', '41', '128', 'd800', '1114112', '99999999999999999999', ';', '=', ' ']
    const piece = fc.constantFrom(...pieces, 'amp', 'AMP', 'lt', 'not', 'notin', 'copy', 'frac12', 'é', 'a', 'Z')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (parts) => {
        const text = `x${parts.join('')}`
        expect(bothWays(text)).toEqual(byParse5(text))
      }),
      { numRuns: 3_000 },
    )
  })
})

test('text that is not wanted is passed over, and what follows it is found', () => {
  const scanner = new HtmlScanner(sourceOfText('a < b<!-- <i> --><p>c</p>d</'), growingVocabulary())
  const names: string[] = []
  while (scanner.next(false, false) !== END) names.push(scanner.spelledName())
  expect(names).toEqual(['p', 'p'])
})
