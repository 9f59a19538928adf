import { describe, expect, test } from 'vitest'
import { createRng, createVirtualClock } from '../../base/index.ts'
import { settingsFromLibrary } from '../../config/index.ts'
import type { FetchResponse } from '../../fetch/index.ts'
import { UNKNOWN_HEALTH, type NormalizedUrl, type Task } from '../../model/index.ts'
import { createInlineReader, type DocumentInput, type PageInput, type Reader } from '../../reading/index.ts'
import { createScope } from '../../url/index.ts'
import { createAdmission } from './admission.ts'
import type { TaskContext, TaskResult } from './context.ts'
import { runPageTask } from './page-task.ts'
import { runSitemapTask } from './sitemap-task.ts'

const URL_ASKED = 'https://a.test/x' as NormalizedUrl
const clock = createVirtualClock()
const now = clock.now()
const headers: Readonly<Record<string, readonly string[]>> = {
  'content-type': ['text/html'],
  'x-robots-tag': ['noarchive', 'nofollow'],
  'set-cookie': ['secret=1'],
}
const response: FetchResponse = {
  kind: 'response',
  status: 200,
  headers: { get: (name) => headers[name]?.join(', ') ?? null, all: (name) => headers[name] ?? [] },
  body: Buffer.from('<title>Tea</title><a href=/next>next</a>'),
  wireBytes: 40,
  truncated: false,
  limits: [],
  startedAt: now - 20,
  answeredAt: now - 10,
  endedAt: now,
  address: '192.0.2.1',
  protocol: 'http/1.1',
}
const broken: Reader = {
  read: async () => ({ kind: 'broke', detail: 'reading it takes longer than 10 s' }),
  close: async () => {},
}

async function run(
  kind: 'page' | 'sitemap',
  reader: Reader,
  { attempts = 0, allowed = 3, answer = response, signal = new AbortController().signal } = {},
): Promise<TaskResult> {
  const rules = {
    scope: createScope({ mode: 'host', seeds: [URL_ASKED], include: [], exclude: [] }),
    tierOf: () => undefined,
    strip: (url: NormalizedUrl) => url,
  }
  const context = {
    ...rules,
    settings: settingsFromLibrary({ attempts: allowed, retryDelay: 1_000 }, '0.0.0'),
    clock,
    rng: createRng(1),
    fetcher: { fetch: async () => answer },
    reader,
    registry: { verdict: async () => ({ allowed: true, detail: '' }) },
    admission: createAdmission(rules),
    wantsSample: () => false,
    repetitions: { judge: () => ({}) },
    productToken: 'Tiptoe',
    connection: () => 'up',
    lease: { delayMs: 0, health: UNKNOWN_HEALTH, address: null, robotsVersion: null },
    signal,
  } as unknown as TaskContext
  const task = {
    kind,
    url: URL_ASKED,
    depth: 0,
    via: 'link',
    tier: 'medium',
    redirects: 0,
    nesting: 0,
    attempts,
  } as Task
  return kind === 'page' ? runPageTask(task, context) : runSitemapTask(task, context)
}

describe.each(['page', 'sitemap'] as const)('a %s', (kind) => {
  test('that breaks its reader is tried three times in all, and then set aside', async () => {
    for (const attempts of [0, 1]) {
      const { outcome } = await run(kind, broken, { attempts, allowed: 10 })
      expect(outcome).toMatchObject({ kind: 'retry', counts: true })
    }
    const { outcome, record } = await run(kind, broken, { attempts: 2, allowed: 10 })
    expect(outcome).toEqual({ kind: 'failed', code: 'parse' })
    const words = { error: 'parse', detail: 'reading it takes longer than 10 s', attempts: 3 }
    if (kind === 'page') expect(record).toMatchObject({ kind: 'fail', record: words })
  })

  test('that breaks its reader is tried once where a URL is tried once', async () => {
    expect((await run(kind, broken, { allowed: 1 })).outcome).toEqual({ kind: 'failed', code: 'parse' })
  })

  test('that breaks its reader has a host that answers', async () => {
    const result = await run(kind, broken)
    expect(result).toMatchObject({ answeredAt: response.answeredAt, host: { health: { streak: 1 } } })
  })

  test('that is being read when the crawl can wait no longer goes back, and its host has been asked', async () => {
    const aborter = new AbortController()
    const slow: Reader = {
      read: (_, signal) =>
        new Promise((resolve) => {
          signal?.addEventListener('abort', () => resolve({ kind: 'aborted' }))
          aborter.abort()
        }),
      close: async () => {},
    }
    const result = await run(kind, slow, { signal: aborter.signal })
    expect(result).toMatchObject({ outcome: { kind: 'returned' }, answeredAt: response.answeredAt })
  })
})

test('a page is read with those of its headers that tell how, and with no others', async () => {
  const inputs: DocumentInput[] = []
  const inline = createInlineReader()
  const watched: Reader = {
    ...inline,
    read(input, signal) {
      inputs.push(input)
      return inline.read(input, signal)
    },
  }
  const result = await run('page', watched)
  expect(inputs).toMatchObject([{ kind: 'page', url: URL_ASKED }])
  expect((inputs[0] as PageInput | undefined)?.headers).toEqual({
    'content-type': ['text/html'],
    'x-robots-tag': ['noarchive', 'nofollow'],
  })
  expect(result.found).toEqual([])
  expect(result.record).toMatchObject({ record: { title: 'Tea', robots: { index: true, follow: false }, links: 1 } })
})

test('the record of a page names every limit that was met, on the way and in reading', async () => {
  const inline = createInlineReader()
  const limited: Reader = {
    ...inline,
    async read(input, signal) {
      const result = await inline.read(input, signal)
      return result.kind === 'read' ? { kind: 'read', reading: { ...result.reading, limits: ['links'] } } : result
    },
  }
  const answer = { ...response, truncated: true, limits: ['body-size'] } as const
  const { record } = await run('page', limited, { answer })
  expect(record).toMatchObject({ record: { truncated: true, limits: ['body-size', 'links'] } })
  const whole = await run('page', inline)
  expect(whole.record).toMatchObject({ record: { truncated: undefined, limits: undefined } })
})
