import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { fileLines, parseObject } from './index.ts'

const root = mkdtempSync(join(tmpdir(), 'tiptoe-lines-'))
const path = join(root, 'lines')
afterAll(() => rmSync(root, { recursive: true }))

/** The lines up to `end` as `[start, text, complete]`, and how far the file was read. */
function read(end: number): { lines: [number, string, boolean][]; reached: number } {
  const lines: [number, string, boolean][] = []
  const walk = fileLines(path, end)
  for (let next = walk.next(); ; next = walk.next()) {
    if (next.done === true) return { lines, reached: next.value }
    expect(next.value.number).toBe(lines.length + 1)
    lines.push([next.value.start, next.value.bytes.toString('latin1'), next.value.complete])
  }
}

describe('the lines of a file', () => {
  test('are those up to the end that is given, each with its place', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '"'), maxLength: 5 })),
        fc.nat(40),
        (texts, end) => {
          const file = texts.map((text) => `${text}\n`).join('')
          writeFileSync(path, file)
          const { lines, reached } = read(end)
          expect(reached).toBe(Math.min(end, file.length))
          expect(lines.map(([, text, complete]) => text + (complete ? '\n' : '')).join('')).toBe(file.slice(0, end))
          for (const [start, text] of lines) expect(file.slice(start, start + text.length)).toBe(text)
        },
      ),
    )
  })

  test('may be longer than a block', () => {
    const long = 'x'.repeat(3_000_000)
    writeFileSync(path, `a\n${long}\nb\nc`)
    expect(read(4_000_000)).toEqual({
      lines: [
        [0, 'a', true],
        [2, long, true],
        [3_000_003, 'b', true],
        [3_000_005, 'c', false],
      ],
      reached: 3_000_006,
    })
  })

  test('are none where there is no file', () => {
    expect([...fileLines(join(root, 'none'), 10)]).toEqual([])
  })
})

test('a line is an object or nothing', () => {
  expect(parseObject(Buffer.from('{"a":1}'))).toEqual({ a: 1 })
  expect(['[1]', 'null', '{"a":', '1', ''].map((text) => parseObject(text))).toEqual(Array(5).fill(undefined))
})
