import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { createRng, type Fingerprint } from '../../../base/index.ts'
import { TiptoeError } from '../../../model/index.ts'
import { createFolderRunFiles, createMemoryRunFiles, createSeenSet, type RunFiles, type SeenSet } from './index.ts'

const OPTIONS = { capacity: 10_000, falsePositiveRate: 0.01, memtable: 500 }
const rng = createRng(3)
const PRINTS: readonly Fingerprint[] = Array.from({ length: 500 }, () => ({
  hi: rng.int(2 ** 32),
  lo: rng.int(2 ** 32),
}))

/** One run with all of these. */
function fill(files: RunFiles): string {
  const set = createSeenSet({ ...OPTIONS, files, manifest: undefined })
  for (const [index, print] of PRINTS.entries()) set.add(print, index + 1)
  for (;;) {
    const manifest = set.work()
    if (manifest === undefined) continue
    set.committed()
    set.close()
    return manifest
  }
}

const open = (files: RunFiles, manifest: string): SeenSet => createSeenSet({ ...OPTIONS, files, manifest })

function contentOf(files: RunFiles, name: string): Uint8Array {
  const file = files.open(name)
  if (file === undefined) throw new Error(`there is no ${name}`)
  const bytes = new Uint8Array(file.size)
  file.read(bytes, 0)
  file.close()
  return bytes
}

function replace(files: RunFiles, name: string, bytes: Uint8Array): void {
  const draft = files.create(name)
  draft.append(bytes)
  draft.finish()
}

/** What opening and reading everything comes to. */
function trouble(files: RunFiles, manifest: string): TiptoeError | undefined {
  try {
    const set = open(files, manifest)
    for (const print of PRINTS) set.find(print)
    return undefined
  } catch (error) {
    if (error instanceof TiptoeError) return error
    throw error
  }
}

describe('run files that are not what they should be', () => {
  const files = createMemoryRunFiles()
  const manifest = fill(files)
  const [name] = files.list() as [string]
  const whole = contentOf(files, name)

  test('a file that is cut anywhere is refused, in words', () => {
    fc.assert(
      fc.property(fc.nat(whole.length - 1), (length) => {
        replace(files, name, whole.subarray(0, length))
        const error = trouble(files, manifest)
        expect(error?.code).toBe('store')
        expect(error?.message).toMatch(/^1\.run, a file of known URLs in memory, (?:is cut short|has)/)
        expect(error?.hint).toMatch(/restore/)
      }),
    )
  })

  test('a byte that is not as it was written is noticed, wherever it is, at the latest when it is read', () => {
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const bytes = whole.slice()
        bytes[at] = (bytes[at] as number) ^ flip
        replace(files, name, bytes)
        expect(trouble(files, manifest)?.code).toBe('store')
      }),
      { numRuns: 1_000 },
    )
  })

  test('a file of another crawl, one that is no run, and one that is gone are refused', () => {
    const others = createMemoryRunFiles()
    const set = createSeenSet({ ...OPTIONS, files: others, manifest: undefined })
    for (const [index, { hi, lo }] of PRINTS.entries()) set.add({ hi, lo: lo ^ 1 }, index + 1)
    while (set.work() === undefined);
    replace(files, name, contentOf(others, name))
    expect(() => open(files, manifest)).toThrow('is of another crawl or time')
    replace(files, name, new Uint8Array(5_000))
    expect(() => open(files, manifest)).toThrow('is no run at all')
    files.remove(name)
    expect(() => open(files, manifest)).toThrow('is missing')
    replace(files, name, whole)
    expect(trouble(files, manifest)).toBeUndefined()
  })

  test('nothing is removed while something that is named is missing', () => {
    const files = createMemoryRunFiles()
    const manifest = fill(files)
    const [name] = files.list() as [string]
    replace(files, '7.run', contentOf(files, name))
    files.remove(name)
    expect(() => open(files, manifest)).toThrow('is missing')
    expect(files.list()).toEqual(['7.run'])
  })

  test.each(['', '{', 'null', '{"layout":2}', '{"layout":1,"storedUpTo":1,"runs":[{}]}', '{"layout":1,"runs":[]}'])(
    'a manifest that cannot be understood is refused: %s',
    (text) => {
      expect(() => open(createMemoryRunFiles(), text)).toThrow(TiptoeError)
    },
  )
})

describe('run files in a folder', () => {
  const folders: string[] = []
  const makeFolder = (): string => {
    const folder = mkdtempSync(join(tmpdir(), 'tiptoe-seen-'))
    folders.push(folder)
    return join(folder, 'state', 'seen')
  }
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
  })

  test('are found again by the next process', () => {
    const folder = makeFolder()
    const manifest = fill(createFolderRunFiles(folder))
    const set = open(createFolderRunFiles(folder), manifest)
    expect(set.storedUpTo).toBe(PRINTS.length)
    expect(PRINTS.map((print) => set.find(print))).toEqual(PRINTS.map((_, index) => index + 1))
    expect(set.find({ hi: 1, lo: 1 })).toBe(0)
    set.close()
  })

  test('that nobody names are removed on opening, and nothing else is', () => {
    const folder = makeFolder()
    const files = createFolderRunFiles(folder)
    const manifest = fill(files)
    writeFileSync(join(folder, '99.run'), 'half a mer')
    writeFileSync(join(folder, 'notes.txt'), 'of a person')
    open(files, manifest).close()
    expect(readdirSync(folder).sort()).toEqual(['1.run', 'notes.txt'])
  })

  test('a merge that is under way when the set is closed leaves nothing behind', () => {
    const folder = makeFolder()
    const files = createFolderRunFiles(folder)
    const set = createSeenSet({ ...OPTIONS, files, manifest: undefined, memtable: 16, fanIn: 2 })
    let manifest = '{}'
    let isBusy = false
    for (const [index, print] of PRINTS.entries()) {
      set.add(print, index + 1)
      manifest = set.work() ?? manifest
      set.committed()
      const named = (JSON.parse(manifest) as { runs?: unknown[] }).runs?.length ?? 0
      if (index > 200 && files.list().length > named) {
        isBusy = true
        break
      }
    }
    expect(isBusy).toBe(true)
    set.close()
    expect(files.list()).toHaveLength((JSON.parse(manifest) as { runs: unknown[] }).runs.length)
  })

  test('a file that is written over while it is open does not answer in silence', () => {
    const folder = makeFolder()
    const files = createFolderRunFiles(folder)
    const set = open(files, fill(files))
    writeFileSync(join(folder, '1.run'), 'short')
    expect(() => set.find(PRINTS[0] as Fingerprint)).toThrow(/ends before|damaged/)
    set.close()
  })
})
