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
  test('has every committed line once, in the order of its bytes, however small its parts are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom('a', 'B', '(', '0', ' ', '~'), minLength: 1, maxLength: 12 })),
        fc.integer({ min: 1, max: 400 }),
        (lines, partBytes) => {
          const text = lines.map((line) => `${line}\n`).join('')
          writeFileSync(path, `${text}not committed\n`)
          expect([...sortedIndexLines(path, text.length, partBytes)]).toEqual(lines.toSorted())
        },
      ),
    )
  })

  test('of nothing is nothing', () => {
    expect([...sortedIndexLines(join(root, 'none'), 0)]).toEqual([])
  })
})
