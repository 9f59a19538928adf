import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { createVirtualClock, type VirtualClock } from '../base/index.ts'
import { createHostLimiter, type HostLimiter } from './limiter.ts'

const HOUR = 3_600_000

interface Bench {
  readonly clock: VirtualClock
  readonly limiter: HostLimiter
  /** What happened so far: the name of each caller and the time, from 0, at which it was let go or refused. */
  readonly log: [string, number][]
  /** Asks for a slot and logs the outcome under a name. */
  readonly ask: (name: string, host: string, delayMs: number, signal?: AbortSignal) => void
  /** Lets what is due at this very moment happen. */
  readonly settle: () => Promise<void>
}

function bench(): Bench {
  const clock = createVirtualClock(0)
  const limiter = createHostLimiter({ clock })
  const log: [string, number][] = []
  return {
    clock,
    limiter,
    log,
    ask(name, host, delayMs, signal) {
      limiter.wait(host, delayMs, signal).then(
        () => log.push([name, clock.now()]),
        (reason: unknown) => log.push([`${name} refused: ${String(reason)}`, clock.now()]),
      )
    },
    settle: () => clock.advance(0),
  }
}

describe('D4: the seven cases', () => {
  it('first request to a host does not wait', async () => {
    const { ask, log, settle, clock } = bench()
    ask('a', 'h', 60_000)
    await settle()
    expect(log).toEqual([['a', 0]])
    expect(clock.nextTimer()).toBeUndefined()
  })

  it('second request inside the interval waits for the rest of it', async () => {
    const { ask, log, clock } = bench()
    ask('a', 'h', 1000)
    await clock.advance(400)
    ask('b', 'h', 1000)
    await clock.advance(599)
    expect(log).toEqual([['a', 0]])
    await clock.advance(1)
    expect(log).toEqual([
      ['a', 0],
      ['b', 1000],
    ])
  })

  it('second request after the interval does not wait', async () => {
    const { ask, log, clock, settle } = bench()
    ask('a', 'h', 1000)
    await clock.advance(1000)
    ask('b', 'h', 1000)
    await settle()
    expect(log).toEqual([
      ['a', 0],
      ['b', 1000],
    ])
    expect(clock.nextTimer()).toBeUndefined()
  })

  it('requests to the same host are serialised', async () => {
    const { ask, log, clock } = bench()
    for (const name of ['a', 'b', 'c', 'd']) ask(name, 'h', 1000)
    await clock.advance(10_000)
    expect(log).toEqual([
      ['a', 0],
      ['b', 1000],
      ['c', 2000],
      ['d', 3000],
    ])
  })

  it('requests to different hosts run in parallel', async () => {
    const { ask, log, clock } = bench()
    for (const host of ['x', 'y', 'z']) ask(`${host}1`, host, 1000)
    for (const host of ['x', 'y', 'z']) ask(`${host}2`, host, 1000)
    await clock.advance(1000)
    expect(log).toEqual([
      ['x1', 0],
      ['y1', 0],
      ['z1', 0],
      ['x2', 1000],
      ['y2', 1000],
      ['z2', 1000],
    ])
  })

  it('sweep removes stale hosts', async () => {
    const { ask, limiter, clock } = bench()
    ask('a', 'h', 1000)
    ask('b', 'other', 1000)
    await clock.advance(HOUR)
    expect(limiter.size).toBe(2)
    limiter.sweep()
    expect(limiter.size).toBe(0)
  })

  it('sweep keeps recent hosts', async () => {
    const { ask, limiter, clock } = bench()
    ask('a', 'h', 1000)
    await clock.advance(HOUR - 1)
    limiter.sweep()
    expect(limiter.size).toBe(1)
  })
})

describe('pace', () => {
  it('keeps the larger of two neighbouring delays, whichever of them asked for it', async () => {
    const { ask, log, clock } = bench()
    ask('a', 'h', 5000)
    ask('b', 'h', 1000)
    ask('c', 'h', 3000)
    ask('d', 'h', 0)
    await clock.advance(60_000)
    expect(log).toEqual([
      ['a', 0],
      ['b', 5000],
      ['c', 8000],
      ['d', 11_000],
    ])
  })

  it('lets requests without a delay go at once, in order', async () => {
    const { ask, log, settle } = bench()
    for (const name of ['a', 'b', 'c']) ask(name, 'h', 0)
    await settle()
    expect(log).toEqual([
      ['a', 0],
      ['b', 0],
      ['c', 0],
    ])
  })

  it('counts from when the earlier request was let go, even if that was late', async () => {
    const late = createVirtualClock(0)
    const limiter = createHostLimiter({
      clock: { ...late, timer: (ms, callback) => late.timer(ms + 70, callback) },
    })
    const starts: number[] = []
    for (let i = 0; i < 3; i++) void limiter.wait('h', 1000).then(() => starts.push(late.now()))
    await late.advance(10_000)
    expect(starts).toEqual([0, 1070, 2140])
  })

  it('waits again when its timer fires too early', async () => {
    const early = createVirtualClock(0)
    const limiter = createHostLimiter({
      clock: { ...early, timer: (ms, callback) => early.timer(Math.min(ms, 300), callback) },
    })
    const starts: number[] = []
    for (let i = 0; i < 2; i++) void limiter.wait('h', 1000).then(() => starts.push(early.now()))
    await early.advance(10_000)
    expect(starts).toEqual([0, 1000])
  })

  it('takes the place in the queue before it gives control back', async () => {
    const { limiter, clock } = bench()
    const order: string[] = []
    const first = limiter.wait('h', 1000).then(() => order.push('first'))
    const second = limiter.wait('h', 1000).then(() => order.push('second'))
    expect(clock.nextTimer()).toBe(1000)
    await clock.advance(1000)
    await Promise.all([first, second])
    expect(order).toEqual(['first', 'second'])
  })

  it('waits out a delay of many days', async () => {
    const { ask, log, clock } = bench()
    const days = 40 * 24 * HOUR
    ask('a', 'h', days)
    ask('b', 'h', 0)
    await clock.advance(days - 1)
    expect(log).toHaveLength(1)
    await clock.advance(1)
    expect(log[1]).toEqual(['b', days])
  })

  it.each([-1, Number.NaN, Infinity, -Infinity])('refuses a delay of %s and takes no slot', async (delayMs) => {
    const { limiter, ask, log, settle } = bench()
    await expect(limiter.wait('h', delayMs)).rejects.toMatchObject({ code: 'usage' })
    expect(limiter.size).toBe(0)
    ask('a', 'h', 1000)
    await settle()
    expect(log).toEqual([['a', 0]])
  })
})

describe('cancellation', () => {
  it('refuses with the reason of the signal, at once', async () => {
    const { ask, log, clock } = bench()
    const controller = new AbortController()
    ask('a', 'h', 1000)
    ask('b', 'h', 1000, controller.signal)
    await clock.advance(300)
    controller.abort('stop')
    await clock.advance(0)
    expect(log).toEqual([
      ['a', 0],
      ['b refused: stop', 300],
    ])
    expect(clock.nextTimer()).toBeUndefined()
  })

  it.each(['first', 'middle', 'last'])('gives the slot of the %s waiter to those behind it', async (which) => {
    const { ask, log, clock } = bench()
    const controller = new AbortController()
    ask('sent', 'h', 1000)
    for (const name of ['first', 'middle', 'last']) ask(name, 'h', 1000, name === which ? controller.signal : undefined)
    await clock.advance(500)
    controller.abort('stop')
    await clock.advance(10_000)
    const others = ['first', 'middle', 'last'].filter((name) => name !== which)
    expect(log).toEqual([
      ['sent', 0],
      [`${which} refused: stop`, 500],
      ...others.map((name, index) => [name, (index + 1) * 1000]),
    ])
  })

  it('lets the next one go at once when only the cancelled one asked for a long delay', async () => {
    const { ask, log, clock } = bench()
    const controller = new AbortController()
    ask('a', 'h', 1000)
    ask('long', 'h', HOUR, controller.signal)
    ask('c', 'h', 1000)
    await clock.advance(4000)
    controller.abort('stop')
    await clock.advance(0)
    expect(log).toEqual([
      ['a', 0],
      ['c', 4000],
      ['long refused: stop', 4000],
    ])
  })

  it('refuses an already aborted signal without taking a slot', async () => {
    const { ask, log, limiter, settle } = bench()
    ask('a', 'h', 1000, AbortSignal.abort('gone'))
    expect(limiter.size).toBe(0)
    await settle()
    ask('b', 'h', 1000)
    await settle()
    expect(log).toEqual([
      ['a refused: gone', 0],
      ['b', 0],
    ])
  })

  it('ignores an abort after the request was let go', async () => {
    const { ask, log, clock } = bench()
    const controller = new AbortController()
    ask('a', 'h', 1000, controller.signal)
    await clock.advance(0)
    controller.abort('late')
    ask('b', 'h', 1000)
    await clock.advance(1000)
    expect(log).toEqual([
      ['a', 0],
      ['b', 1000],
    ])
  })
})

describe('memory', () => {
  it('keeps a host whose delay is longer than an hour until that delay has passed', async () => {
    const { ask, limiter, clock, log } = bench()
    ask('a', 'h', 3 * HOUR)
    await clock.advance(2 * HOUR)
    limiter.sweep()
    expect(limiter.size).toBe(1)
    ask('b', 'h', 0)
    await clock.advance(HOUR)
    expect(log).toEqual([
      ['a', 0],
      ['b', 3 * HOUR],
    ])
    await clock.advance(HOUR)
    limiter.sweep()
    expect(limiter.size).toBe(0)
  })

  it('keeps a host for which somebody waits', async () => {
    const { ask, limiter, clock, log } = bench()
    ask('a', 'h', 1000)
    ask('b', 'h', 2 * HOUR)
    await clock.advance(1.5 * HOUR)
    limiter.sweep()
    expect(limiter.size).toBe(1)
    await clock.advance(HOUR)
    expect(log[1]).toEqual(['b', 2 * HOUR])
  })

  it('sweeps by itself inside wait, every five minutes at most', async () => {
    const { ask, limiter, clock } = bench()
    ask('a', 'old', 0)
    await clock.advance(HOUR - 1)
    ask('b', 'new', 0)
    expect(limiter.size).toBe(2)
    await clock.advance(299_999)
    ask('c', 'new', 0)
    expect(limiter.size).toBe(2)
    await clock.advance(1)
    ask('d', 'new', 0)
    expect(limiter.size).toBe(1)
  })

  it('respects a longer delay than the forgotten one when the request itself brings the sweep', async () => {
    const { ask, log, clock } = bench()
    ask('a', 'h', 1000)
    await clock.advance(1.5 * HOUR)
    ask('b', 'h', 2 * HOUR)
    await clock.advance(HOUR)
    expect(log).toEqual([
      ['a', 0],
      ['b', 2 * HOUR],
    ])
  })

  it('remembers 10,000 hosts', async () => {
    const { limiter, clock } = bench()
    for (let i = 0; i < 10_000; i++) await limiter.wait(`host-${i}.example`, 1000)
    expect(limiter.size).toBe(10_000)
    await clock.advance(HOUR)
    limiter.sweep()
    expect(limiter.size).toBe(0)
  })
})

it('keeps order and distance for any mixture of callers, hosts, delays and cancellations', async () => {
  const caller = fc.record({
    host: fc.constantFrom('x', 'y'),
    delayMs: fc.integer({ min: 0, max: 50 }),
    afterMs: fc.integer({ min: 0, max: 40 }),
    cancelAtMs: fc.option(fc.integer({ min: 0, max: 300 }), { nil: undefined }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(caller, { maxLength: 10 }), async (callers) => {
      const { clock, limiter } = bench()
      const starts: { host: string; at: number; delayMs: number; index: number }[] = []
      let refused = 0
      for (const [index, { host, delayMs, afterMs, cancelAtMs }] of callers.entries()) {
        await clock.advance(afterMs)
        const controller = new AbortController()
        if (cancelAtMs !== undefined) clock.timer(cancelAtMs, () => controller.abort())
        limiter.wait(host, delayMs, controller.signal).then(
          () => starts.push({ host, at: clock.now(), delayMs, index }),
          () => refused++,
        )
      }
      await clock.advance(1000)
      expect(starts.length + refused).toBe(callers.length)
      for (const host of ['x', 'y']) {
        const own = starts.filter((start) => start.host === host)
        expect(own.map((start) => start.index)).toEqual(own.map((start) => start.index).sort((a, b) => a - b))
        for (const [position, start] of own.slice(1).entries()) {
          const before = own[position]
          expect(start.at - (before?.at ?? 0)).toBeGreaterThanOrEqual(Math.max(start.delayMs, before?.delayMs ?? 0))
        }
      }
    }),
    { numRuns: 60 },
  )
})
