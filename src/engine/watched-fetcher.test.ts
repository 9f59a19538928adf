import { expect, test } from 'vitest'
import { createVirtualClock } from '../base/index.ts'
import type { Fetcher } from '../fetch/index.ts'
import type { HostKey, NormalizedUrl } from '../model/index.ts'
import { createPolitenessAudit } from '../politeness/index.ts'
import { createSlots } from './slots.ts'
import { createWatchedFetcher } from './watched-fetcher.ts'

const HOST = 'a.test' as HostKey
const URL_OF_IT = 'https://a.test/' as NormalizedUrl

test('a request is sent only under a lease that holds when its connection is there', async () => {
  const clock = createVirtualClock()
  const policyOf = () => ({ delayMs: 1_000, concurrency: 1 })
  let holds = true
  let sent = 0
  const fetcher: Fetcher = {
    async fetch({ mayStart }) {
      // While it is dialled, this process is stopped for longer than its lease lasts.
      holds = false
      if (mayStart?.() !== false) sent += 1
      return { kind: 'aborted' }
    },
    resolve: async () => undefined,
    close: async () => {},
    stats: { openOrigins: 0 },
  }
  const watched = createWatchedFetcher(fetcher, HOST, {
    clock,
    permit: { ask: async () => holds, holds: () => holds, signal: new AbortController().signal },
    audit: createPolitenessAudit({ clock, policyOf, onViolation: () => {} }),
    slot: createSlots(1).enter(true),
    isAlone: true,
  })
  expect([await watched.fetch({ url: URL_OF_IT }), sent]).toEqual([{ kind: 'aborted' }, 0])
})

test('a request that waited for others of its host longer than its permit is good for waits for another one', async () => {
  const clock = createVirtualClock()
  const policyOf = () => ({ delayMs: 1_000, concurrency: 2 })
  const audit = createPolitenessAudit({ clock, policyOf, onViolation: () => {} })
  const fetcher: Fetcher = {
    fetch: async () => ({ kind: 'aborted' }),
    resolve: async () => undefined,
    close: async () => {},
    stats: { openOrigins: 0 },
  }
  const startedAt: number[] = []
  let permits = 0
  const watched = createWatchedFetcher(fetcher, HOST, {
    clock,
    permit: { ask: async () => true, holds: () => true, signal: new AbortController().signal },
    audit: {
      ...audit,
      started(host, at) {
        startedAt.push(clock.now() - began)
        return audit.started(host, at)
      },
    },
    slot: createSlots(1).enter(true),
    isAlone: false,
    rate: {
      async next() {
        permits += 1
        // Another request to the host is answered while this one waits for its first permit.
        if (permits === 1) audit.answered(HOST, clock.now())
        return permits < 3 ? clock.now() + 100 : undefined
      },
      enough: 1,
      nextAt: 0,
      stop() {},
    },
  })
  const began = clock.now()
  audit.started(HOST)
  const sent = watched.fetch({ url: URL_OF_IT })
  await clock.advance(3_000)
  expect(await sent).toEqual({ kind: 'aborted' })
  // The one before it was a second ago, and so is the answer that came meanwhile.
  expect([permits, startedAt]).toEqual([2, [2_000]])
  // Nor is anything sent once there are no permits any more.
  expect([await watched.fetch({ url: URL_OF_IT }), startedAt.length]).toEqual([{ kind: 'aborted' }, 1])
})

test('two requests to one host that come in the same moment start a delay apart', async () => {
  const clock = createVirtualClock()
  const policyOf = () => ({ delayMs: 50, concurrency: 2 })
  const audit = createPolitenessAudit({ clock, policyOf, onViolation: () => {} })
  const fetcher: Fetcher = {
    fetch: async () => ({ kind: 'aborted' }),
    resolve: async () => undefined,
    close: async () => {},
    stats: { openOrigins: 0 },
  }
  const slots = createSlots(2)
  const watch = () =>
    createWatchedFetcher(fetcher, HOST, {
      clock,
      permit: { ask: async () => true, holds: () => true, signal: new AbortController().signal },
      audit,
      slot: slots.enter(true),
      isAlone: false,
    })
  const sent = Promise.all([watch(), watch()].map((watched) => watched.fetch({ url: URL_OF_IT })))
  await clock.advance(1_000)
  await sent
  expect([audit.requests, audit.violations]).toEqual([2, 0])
})
