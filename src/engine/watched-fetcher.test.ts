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
