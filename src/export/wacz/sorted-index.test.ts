import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { sortedIndexLines } from './sorted-index.ts'

const root = mkdtempSync(join(tmpdir(), 'tiptoe-sorted-'))
const path = join(root, 'index.cdxj')
afterAll(() => rmSync(root, { recursive: true }))

describe('the index in order', () => {
  test('has every committed line once, in the order of its bytes, however small its ranges are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom('a', 'B', '(', '0', ' ', '~'), minLength: 1, maxLength: 12 })),
        fc.integer({ min: 1, max: 400 }),
        (lines, rangeBytes) => {
          const text = lines.map((line) => `${line}\n`).join('')
          writeFileSync(path, `${text}not committed\n`)
          expect([...sortedIndexLines([{ path, end: text.length, prefix: '' }], rangeBytes)]).toEqual(lines.toSorted())
        },
      ),
    )
  })

  test('of several folders has the lines of all, each with the file of its own folder', () => {
    const line = (key: string): string => `${key} 2026 {"url":"https://a.test/?,\\"filename\\":\\"x","filename":"f.gz"}`
    const parts = [
      ['b', 'd'],
      ['a', 'c'],
    ].map((keys, index) => {
      const text = keys.map((key) => `${line(key)}\n`).join('')
      const part = { path: join(root, `part-${index}`), end: text.length, prefix: `${index}-` }
      writeFileSync(part.path, text)
      return part
    })
    const found = [...sortedIndexLines(parts, 100)].map((text) => ({
      key: text[0],
      ...(JSON.parse(text.slice(text.indexOf('{'))) as { filename: string; url: string }),
    }))
    expect(found.map(({ key, filename }) => [key, filename])).toEqual([
      ['a', '1-f.gz'],
      ['b', '0-f.gz'],
      ['c', '1-f.gz'],
      ['d', '0-f.gz'],
    ])
    expect(new Set(found.map(({ url }) => url))).toEqual(new Set(['https://a.test/?,"filename":"x']))
  })

  test('of nothing is nothing', () => {
    expect([...sortedIndexLines([{ path: join(root, 'none'), end: 0, prefix: '' }])]).toEqual([])
  })
})
