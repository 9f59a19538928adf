import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readCommitted, readWorkerFolder, writeCommitted, writeWorkerFolder } from './index.ts'

const root = mkdtempSync(join(tmpdir(), 'tiptoe-worker-folder-'))
afterAll(() => rmSync(root, { recursive: true }))
let count = 0
const place = (): string => join(root, String(++count))
const identity = { crawl: 'news', worker: 'worker-0', store: 'redis://:***@127.0.0.1:6379' }

/** A folder with this text in one of its two files. */
function folderWith(name: 'worker.json' | 'committed.json', text: string): string {
  const folder = place()
  mkdirSync(join(folder, 'state'), { recursive: true })
  writeFileSync(join(folder, 'state', name), text)
  return folder
}

describe('the folder of a worker', () => {
  test('says whose it is', async () => {
    const folder = place()
    await writeWorkerFolder(folder, identity)
    expect(readWorkerFolder(folder)).toEqual({ schema: 1, ...identity })
  })

  test('is told from one that is no worker’s', () => {
    expect(readWorkerFolder(place())).toBeUndefined()
  })

  test('may be written by hand over several lines', () => {
    expect(readWorkerFolder(folderWith('worker.json', JSON.stringify({ schema: 1, ...identity }, null, 2)))).toEqual({
      schema: 1,
      ...identity,
    })
  })

  test.each([
    ['nothing', ''],
    ['half a file', '{"schema":1,"crawl":"ne'],
    ['no worker', JSON.stringify({ schema: 1, crawl: 'news', store: '' })],
    ['a name that is a path', JSON.stringify({ schema: 1, ...identity, worker: '../../etc' })],
  ])('is not guessed from %s', (_what, text) => {
    expect(() => readWorkerFolder(folderWith('worker.json', text))).toThrow('does not say whose it is')
  })

  test('is refused when a newer version made it', () => {
    const folder = folderWith('worker.json', JSON.stringify({ schema: 2, ...identity }))
    expect(() => readWorkerFolder(folder)).toThrow('newer')
  })
})

describe('the committed position in the folder of a worker', () => {
  test('is the last that was written, and leaves no draft', async () => {
    const folder = place()
    await writeCommitted(folder, { 'pages.jsonl': 10 })
    await writeCommitted(folder, { 'pages.jsonl': 25, 'archive/index.cdxj': 3 })
    expect(readCommitted(folder)).toEqual({ 'pages.jsonl': 25, 'archive/index.cdxj': 3 })
    expect(readdirSync(join(folder, 'state'))).toEqual(['committed.json'])
    expect(readFileSync(join(folder, 'state/committed.json'), 'utf8')).toMatch(/^\{.*\}\n$/)
  })

  test.each([
    ['missing', undefined],
    ['empty', ''],
    ['torn', '{"pages.jsonl":1'],
    ['no lengths', '{"pages.jsonl":"10"}'],
    ['below zero', '{"pages.jsonl":-1}'],
    ['longer than any position', `{"pages.jsonl":1${' '.repeat(70_000)}}`],
  ])('is none when it is %s', (_how, text) => {
    expect(readCommitted(text === undefined ? place() : folderWith('committed.json', text))).toBeUndefined()
  })
})
