import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createVirtualClock } from '../base/index.ts'
import type { HostKey, ImpoliteRequest, Origin } from '../model/index.ts'
import { createPolitenessAudit } from './audit.ts'

const A = 'a.test' as HostKey
const ORIGIN = 'https://a.test' as Origin

function setUp(policy = { delayMs: 1_000, concurrency: 1 }) {
  const clock = createVirtualClock(0)
  const seen: ImpoliteRequest[] = []
  const audit = createPolitenessAudit({ clock, policyOf: () => policy, onViolation: (request) => seen.push(request) })
  /** A whole request, answered after `latencyMs`. */
  const ask = async (host = A, latencyMs = 0): Promise<number | undefined> => {
    const spareMs = audit.started(host)
    await clock.advance(latencyMs)
    audit.answered(host, clock.now())
    audit.ended(host)
    return spareMs
  }
  return { clock, audit, seen, ask, kinds: () => seen.map(({ kind }) => kind) }
}

describe('the audit', () => {
  test('has nothing to say of a first request', async () => {
    const { audit, ask, seen } = setUp()
    expect(await ask()).toBeUndefined()
    expect(seen).toEqual([])
    expect(audit).toMatchObject({ requests: 1, violations: 0, hosts: 1 })
  })

  test('answers how much later than its delay after the answer a request started', async () => {
    const { clock, ask, seen } = setUp()
    await ask(A, 300)
    await clock.advance(1_000)
    expect(await ask(A, 700)).toBe(0)
    await clock.advance(1_250)
    expect(await ask()).toBe(250)
    expect(seen).toEqual([])
  })

  test('hears of requests of other threads out of order, and compares those that are next to each other', () => {
    const { audit, kinds } = setUp({ delayMs: 100, concurrency: 3 })
    audit.started(A, 1_000)
    expect(audit.started(A, 1_200)).toBe(100)
    audit.answered(A, 1_260)
    // It was sent before that answer, and too soon after the request before.
    expect(audit.started(A, 1_250)).toBe(-50)
    expect(kinds()).toEqual(['pace'])
    audit.ended(A)
    // It was sent before the last one, and that one too soon after it.
    expect(audit.started(A, 1_180)).toBe(-30)
    expect(kinds()).toEqual(['pace', 'pace'])
  })

  test('reports a request that is a fraction of a millisecond early', async () => {
    const { clock, audit, ask, seen } = setUp()
    await ask(A, 300)
    await clock.advance(999.5)
    expect(await ask()).toBe(-0.5)
    const detail = 'asked 999.5 ms after its answer, with a delay of 1s'
    expect(seen).toEqual([{ host: A, kind: 'pace', at: 1_299.5, detail }])
    expect(audit.violations).toBe(1)
  })

  test('counts from the answer and not from the start', async () => {
    const { clock, ask, kinds } = setUp()
    await ask(A, 5_000)
    await clock.advance(999)
    await ask()
    expect(kinds()).toEqual(['pace'])
  })

  test('counts from the first byte even while the body is still coming', async () => {
    const { clock, audit, kinds } = setUp()
    audit.started(A)
    audit.answered(A, clock.now())
    await clock.advance(1_000)
    audit.ended(A)
    expect(audit.started(A)).toBe(0)
    expect(kinds()).toEqual([])
  })

  test('reports a request beyond the limit in flight', async () => {
    const { clock, audit, seen } = setUp({ delayMs: 0, concurrency: 2 })
    audit.started(A)
    audit.started(A)
    expect(seen).toEqual([])
    audit.started(A)
    expect(seen).toEqual([
      { host: A, kind: 'in-flight', at: clock.now(), detail: 'asked with 2 under way, of 2 permitted' },
    ])
    audit.ended(A)
    audit.ended(A)
    audit.started(A)
    expect(seen).toHaveLength(1)
  })

  test('with several in flight counts from the last start too, and from every answer', async () => {
    const { clock, audit, seen } = setUp({ delayMs: 1_000, concurrency: 3 })
    audit.started(A)
    await clock.advance(999)
    expect(audit.started(A)).toBe(-1)
    expect(seen.at(-1)?.detail).toBe('asked 999 ms after its last request, with a delay of 1s')
    await clock.advance(600)
    audit.answered(A, clock.now())
    audit.ended(A)
    await clock.advance(500)
    expect(audit.started(A)).toBe(-500)
    expect(seen.map(({ kind }) => kind)).toEqual(['pace', 'pace'])
  })

  test('reports a request inside a pause, of which the longest counts', async () => {
    const { clock, audit, ask, seen } = setUp({ delayMs: 0, concurrency: 1 })
    await ask()
    audit.paused(A, 60_000)
    audit.paused(A, 10_000)
    await clock.advance(59_000)
    await ask()
    expect(seen).toMatchObject([{ kind: 'pause', detail: 'asked 1000 ms before the end of its pause' }])
    await clock.advance(1_000)
    await ask()
    expect(seen).toHaveLength(1)
  })

  test('forgets a pause that was lifted', async () => {
    const { audit, ask, seen } = setUp({ delayMs: 0, concurrency: 1 })
    audit.paused(A, 60_000)
    audit.paused(A, 0)
    await ask()
    expect(seen).toEqual([])
  })

  test('holds a host to the longest Crawl-delay of its origins while it is in force', async () => {
    const { clock, audit, ask, kinds } = setUp()
    const other = 'http://a.test' as Origin
    audit.crawlDelay(A, ORIGIN, 5_000)
    audit.crawlDelay(A, other, 2_000)
    await ask()
    await clock.advance(4_999)
    expect(await ask()).toBe(-1)
    audit.crawlDelay(A, ORIGIN, 0)
    await clock.advance(2_000)
    expect(await ask()).toBe(0)
    audit.crawlDelay(A, other, 0)
    await clock.advance(1_000)
    expect(await ask()).toBe(0)
    expect(kinds()).toEqual(['pace'])
  })

  test('holds nothing against what was never sent', async () => {
    const { clock, audit, ask, seen } = setUp()
    await ask()
    await clock.advance(1_000)
    audit.started(A)
    await clock.advance(10)
    audit.answered(A, clock.now())
    audit.withdrawn(A)
    expect(await ask()).toBe(10)
    expect(seen).toEqual([])
    expect(audit.requests).toBe(2)
  })

  test('keeps hosts apart', async () => {
    const { ask, seen } = setUp()
    await ask()
    expect(await ask('b.test' as HostKey)).toBeUndefined()
    expect(seen).toEqual([])
  })

  test('says when a host is free again', async () => {
    const { audit, ask } = setUp()
    expect(audit.freeAt(A)).toBe(-Infinity)
    await ask(A, 300)
    expect(audit.freeAt(A)).toBe(1_300)
    audit.crawlDelay(A, ORIGIN, 9_000)
    expect(audit.freeAt(A)).toBe(9_300)
    audit.paused(A, 60_000)
    expect(audit.freeAt(A)).toBe(60_000)
  })
})

describe('the memory of the audit', () => {
  const name = (index: number): HostKey => `h${index}.test` as HostKey

  test('holds no more hosts than are inside their delay, and as many again', async () => {
    const { clock, audit, seen } = setUp()
    let most = 0
    // A hundred hosts a second with a delay of one second each: a hundred are inside it at any time.
    for (let index = 0; index < 5_000; index++) {
      audit.started(name(index))
      audit.answered(name(index), clock.now())
      audit.ended(name(index))
      if (index % 10 === 9) await clock.advance(100)
      most = Math.max(most, audit.hosts)
    }
    expect(most).toBeLessThanOrEqual(220)
    expect(seen).toEqual([])
  })

  test('keeps what is under way, paused or inside its delay, however many others come', async () => {
    const { clock, audit, ask, kinds } = setUp()
    const [busy, paused, slow] = ['busy.test', 'paused.test', 'slow.test'] as [HostKey, HostKey, HostKey]
    audit.started(busy)
    await ask(paused)
    audit.paused(paused, 1_000_000)
    await ask(slow)
    audit.crawlDelay(slow, 'https://slow.test' as Origin, 1_000_000)
    for (let index = 0; index < 2_000; index++) {
      await ask(name(index))
      if (index % 100 === 0) await clock.advance(1_000)
    }
    expect(audit.hosts).toBeLessThan(500)
    await ask(busy)
    await ask(paused)
    await ask(slow)
    expect(kinds()).toEqual(['in-flight', 'pause', 'pace'])
  })

  test('remembers the Crawl-delay of a host that was forgotten', async () => {
    const { clock, audit, ask, kinds } = setUp()
    audit.crawlDelay(A, ORIGIN, 5_000)
    await ask()
    await clock.advance(10_000)
    for (let index = 0; index < 10; index++) await ask(name(index))
    expect(audit.freeAt(A)).toBe(-Infinity)
    expect(await ask()).toBeUndefined()
    await clock.advance(4_000)
    await ask()
    expect(kinds()).toEqual(['pace'])
  })

  test('is bounded for a host with an origin on every port', async () => {
    const { clock, audit, ask, kinds } = setUp()
    for (let port = 1; port <= 1_000; port++) audit.crawlDelay(A, `http://a.test:${port}` as Origin, port * 1_000)
    for (let port = 1_000; port > 984; port--) audit.crawlDelay(A, `http://a.test:${port}` as Origin, 0)
    await ask()
    await clock.advance(1_000)
    await ask()
    expect(kinds()).toEqual([])
  })
})

test('agrees with a plain reading of the whole history, for any traffic', async () => {
  const step = fc.record({
    host: fc.constantFrom('a', 'b', 'c'),
    act: fc.constantFrom('start', 'start', 'answer', 'end', 'pause'),
    afterMs: fc.integer({ min: 0, max: 400 }),
  })
  const policies = fc.record({ delayMs: fc.integer({ min: 0, max: 500 }), concurrency: fc.integer({ min: 1, max: 3 }) })
  await fc.assert(
    fc.asyncProperty(policies, fc.array(step, { maxLength: 60 }), async (policy, steps) => {
      const { clock, audit, kinds } = setUp(policy)
      const history = new Map(['a', 'b', 'c'].map((host) => [host, { times: [] as number[], inFlight: 0, until: 0 }]))
      const expected: string[] = []
      for (const { host, act, afterMs } of steps) {
        await clock.advance(afterMs)
        const past = history.get(host)
        if (past === undefined) continue
        const now = clock.now()
        if (act === 'start') {
          if (past.inFlight >= policy.concurrency) expected.push('in-flight')
          if (past.times.some((time) => now - time < policy.delayMs)) expected.push('pace')
          if (now < past.until) expected.push('pause')
          past.times.push(now)
          past.inFlight += 1
          audit.started(host as HostKey)
        } else if (act === 'pause') {
          past.until = Math.max(past.until, now + 300)
          audit.paused(host as HostKey, now + 300)
        } else if (past.inFlight > 0) {
          if (act === 'answer') past.times.push(now)
          else past.inFlight -= 1
          if (act === 'answer') audit.answered(host as HostKey, now)
          else audit.ended(host as HostKey)
        }
      }
      expect(kinds()).toEqual(expected)
      expect(audit.violations).toBe(expected.length)
    }),
    { numRuns: 100 },
  )
})
