import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createFileReplacer } from './file-replacer.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tiptoe-files-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A replacer on a file system that takes so long for each file, and whether a file is there when the call returns. */
function setUp() {
  const disk = { takesMs: 0.05 }
  let time = 0
  let isSecond = false
  const now = (): number => {
    if (isSecond) time += disk.takesMs
    isSecond = !isSecond
    return time
  }
  const replace = createFileReplacer({ now })
  let files = 0
  const isWrittenAtOnce = async (): Promise<boolean> => {
    const path = join(folder, `${files++}.md`)
    const written = replace(path, 'text')
    const isThere = existsSync(path)
    await written
    expect(readFileSync(path, 'utf8')).toBe('text')
    return isThere
  }
  return { disk, replace, isWrittenAtOnce }
}

async function writtenAtOnce(files: number, isWrittenAtOnce: () => Promise<boolean>): Promise<number> {
  let count = 0
  for (let file = 0; file < files; file++) if (await isWrittenAtOnce()) count++
  return count
}

test('files are written at once while that is quick', async () => {
  const { isWrittenAtOnce } = setUp()
  expect(await writtenAtOnce(100, isWrittenAtOnce)).toBe(100)
})

test('texts are written as UTF-8, whatever is in them and however long they are', async () => {
  const { replace } = setUp()
  const path = join(folder, 'text.md')
  for (const unit of ['a', '\u00e9', '\u20ac', '\u{1f375}', '\ud800']) {
    for (const length of [0, 1, 174_762, 174_763, 600_000]) {
      await replace(path, unit.repeat(length))
      expect(readFileSync(path).equals(Buffer.from(unit.repeat(length)))).toBe(true)
    }
  }
})

test('on a slow file system others wait for nearly all files, until it is quick again', async () => {
  const { disk, isWrittenAtOnce } = setUp()
  disk.takesMs = 1
  await writtenAtOnce(8, isWrittenAtOnce)
  expect(await writtenAtOnce(650, isWrittenAtOnce)).toBe(10)
  disk.takesMs = 0.05
  await writtenAtOnce(65, isWrittenAtOnce)
  expect(await writtenAtOnce(100, isWrittenAtOnce)).toBe(100)
})

test('one file that takes long changes nothing', async () => {
  const { disk, isWrittenAtOnce } = setUp()
  await writtenAtOnce(50, isWrittenAtOnce)
  disk.takesMs = 20
  await isWrittenAtOnce()
  disk.takesMs = 0.05
  expect(await writtenAtOnce(100, isWrittenAtOnce)).toBe(100)
})

describe.each([
  { way: 'at once', takesMs: 0.05 },
  { way: 'by others', takesMs: 1 },
])('a file that is written $way', ({ way, takesMs }) => {
  const setUpWay = async () => {
    const { disk, replace, isWrittenAtOnce } = setUp()
    disk.takesMs = takesMs
    await writtenAtOnce(8, isWrittenAtOnce)
    expect(await isWrittenAtOnce()).toBe(way === 'at once')
    return replace
  }

  test('takes the place of what is there, and is not written through a link', async () => {
    const replace = await setUpWay()
    const outside = join(folder, 'outside')
    writeFileSync(outside, 'untouched')
    const path = join(folder, 'page.md')
    symlinkSync(outside, path)
    symlinkSync(outside, `${path}.part`)
    await replace(path, Buffer.from('new'))
    expect(readFileSync(path, 'utf8')).toBe('new')
    expect(readFileSync(outside, 'utf8')).toBe('untouched')
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([])
  })

  test('and cannot be says so with a code', async () => {
    const replace = await setUpWay()
    await expect(replace(join(folder, 'none/page.md'), 'x')).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
