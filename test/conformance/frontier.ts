/**
 * The frontier's conformance suite: what the contract promises, tried on any home. A home passes all of it or is not
 * a home; nothing here knows which one it runs on.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Lease, Settlement } from '../../src/frontier/index.ts'
import type { NormalizedUrl, Outcome, Task } from '../../src/model/index.ts'
import { describeGroups } from './groups.ts'
import { allowAll, answering, conserved, createSetup, DAY, page, type OpenFrontier } from './harness.ts'
import { describeHealth } from './health.ts'
import { describeRevisits } from './revisits.ts'
import { describeSharing } from './sharing.ts'
import { describeTiers } from './tiers.ts'
import { describeTraps } from './traps.ts'

export { allowAll, conserved, type OpenFrontier } from './harness.ts'

/** `share`: how many of the random sequences are tried, of those that a home is tried with where that is quick. */
export function describeFrontier(home: string, open: OpenFrontier, share = 1): void {
  const setup = createSetup(open)

  describe(`the ${home} frontier`, () => {
    describe('robots.txt', () => {
      test('is the first task of an origin, handed out once', async () => {
        const { frontier, lease } = setup()
        await frontier.add([page('https://a.test/1'), page('https://a.test/2')])
        const [first, ...others] = await lease()
        expect(first?.tasks).toMatchObject([
          { kind: 'robots', url: 'https://a.test/robots.txt', origin: 'https://a.test' },
        ])
        expect(others).toEqual([])
        expect(await lease()).toEqual([])
      })

      test('is asked for each origin of a host, at the pace of the host', async () => {
        const { clock, frontier, one, lease, passRobots } = setup()
        await frontier.add([page('http://a.test/'), page('https://a.test/')])
        await passRobots()
        expect(await lease()).toEqual([])
        await clock.advance(1_000)
        const second = await one()
        const kinds = [second.tasks[0]?.kind, second.tasks[0]?.origin]
        expect([
          ['robots', 'https://a.test'],
          ['page', 'http://a.test'],
        ]).toContainEqual(kinds)
      })

      test('is fetched again once its record has expired, before the next page', async () => {
        const { clock, frontier, one, passRobots } = setup()
        await frontier.add([page('https://a.test/1')])
        await passRobots()
        await clock.advance(DAY)
        expect((await one()).tasks[0]?.kind).toBe('robots')
      })

      test('can be retried later, and nothing of its origin is handed out meanwhile', async () => {
        const { clock, frontier, one, lease, end, settle } = setup()
        await frontier.add([page('https://a.test/1')])
        await settle(end(await one(), { kind: 'retry', notBefore: clock.now() + 5_000, counts: true }))
        await clock.advance(4_999)
        expect(await lease()).toEqual([])
        await clock.advance(1)
        expect((await one()).tasks[0]).toMatchObject({ kind: 'robots', attempts: 1 })
      })

      test('that moved to another host is fetched there, in that host’s turn, for its own origin', async () => {
        const { clock, frontier, one, end, settle } = setup()
        await frontier.add([page('https://a.test/1')])
        await settle(end(await one(), { kind: 'moved', url: 'https://www.a.test/robots.txt' as NormalizedUrl }))
        const moved = await one()
        expect(moved.host).toBe('www.a.test')
        const task = moved.tasks[0] as Task
        expect(task).toMatchObject({
          kind: 'robots',
          url: 'https://www.a.test/robots.txt',
          origin: 'https://a.test',
          redirects: 1,
        })
        await settle(end(moved, { kind: 'done' }, { robots: allowAll(task, clock.now()) }))
        await clock.advance(1_000)
        expect((await one()).tasks[0]).toMatchObject({ kind: 'page', url: 'https://a.test/1' })
        expect((await frontier.host('a.test' as never))?.robots).toHaveLength(1)
      })
    })

    describe('pace', () => {
      test('a lease never returns a host before its delay has passed since the answer', async () => {
        const { clock, frontier, one, lease, end, settle, passRobots } = setup()
        await frontier.add([page('https://a.test/1'), page('https://a.test/2')])
        await passRobots()
        await clock.advance(999)
        expect(await lease()).toEqual([])
        await clock.advance(1)
        const held = await one()
        await clock.advance(3_000)
        await settle(end(held, { kind: 'done' }))
        await clock.advance(999)
        expect(await lease()).toEqual([])
        await clock.advance(1)
        expect(await lease()).toHaveLength(1)
      })

      test('says when to ask again', async () => {
        const { clock, frontier, passRobots } = setup()
        await frontier.add([page('https://a.test/1')])
        await passRobots()
        const answer = await frontier.lease({ worker: 'w', want: 1 })
        expect(answer).toMatchObject({ leases: [], nextAt: clock.now() + 1_000, state: 'open' })
      })

      test('Crawl-delay lengthens it and never shortens it', async () => {
        const { clock, frontier, lease, passRobots } = setup()
        await frontier.add([page('https://a.test/1')])
        await passRobots({ crawlDelayMs: 5_000 })
        await clock.advance(4_999)
        expect(await lease()).toEqual([])
        await clock.advance(1)
        expect((await lease())[0]?.delayMs).toBe(5_000)
        expect((await frontier.host('a.test' as never))?.delayMs).toBe(5_000)
      })

      test('a host is leased to as many slots as its policy allows, and their starts keep the delay', async () => {
        const { clock, frontier, lease, passRobots } = setup({ concurrency: 2 })
        await frontier.add([1, 2, 3, 4].map((n) => page(`https://a.test/${n}`)))
        await passRobots()
        await clock.advance(1_000)
        expect(await lease()).toHaveLength(1)
        expect(await lease()).toHaveLength(0)
        await clock.advance(1_000)
        expect(await lease()).toHaveLength(1)
        await clock.advance(9_000)
        expect(await lease()).toHaveLength(0)
      })

      test('a lease of a host without delay carries several tasks, shared out over its slots', async () => {
        const { frontier, lease, passRobots } = setup({ delayMs: 0, concurrency: 4 })
        await frontier.add(Array.from({ length: 40 }, (_, n) => page(`https://a.test/${n}`)))
        await passRobots()
        const leases = await lease()
        expect(leases).toHaveLength(4)
        for (const held of leases) expect(held.tasks.length).toBeGreaterThan(1)
        const all = leases.flatMap((held) => held.tasks.map((task) => task.id))
        expect(new Set(all).size).toBe(all.length)
      })

      test('a lease under which nothing was sent costs the host no delay', async () => {
        const { clock, frontier, one, lease, settle, passRobots } = setup()
        await frontier.add([page('https://a.test/1'), page('https://a.test/2')])
        await passRobots()
        await clock.advance(1_000)
        const held = await one()
        await settle({ lease: held, task: held.tasks[0] as Task, outcome: { kind: 'skipped', reason: 'robots' } })
        expect(await lease()).toHaveLength(1)
      })

      test('hosts do not wait for each other, and the one due longest goes first', async () => {
        const { clock, frontier, lease, one, end, settle } = setup()
        await frontier.add([page('https://a.test/'), page('https://b.test/'), page('https://c.test/')])
        const all = await lease()
        expect(all.map((held) => held.host)).toEqual(['a.test', 'b.test', 'c.test'])
        for (const held of all.toReversed()) {
          const robots = allowAll(held.tasks[0] as Task, clock.now())
          await settle(end(held, { kind: 'done' }, { robots }))
          await clock.advance(10)
        }
        await clock.advance(1_000)
        expect((await one()).host).toBe('c.test')
        expect((await one()).host).toBe('b.test')
      })

      test('a blocked host is left alone until the block ends', async () => {
        const { clock, frontier, lease, passRobots } = setup()
        await frontier.add([page('https://a.test/1')])
        await passRobots()
        const until = clock.now() + 60_000
        const record = await frontier.host('a.test' as never, {
          blockedUntil: until,
          blockedReason: 'HTTP 429',
          health: answering(-1, { strikes: 1 }),
        })
        expect(record).toMatchObject({ blockedUntil: until, blockedReason: 'HTTP 429', health: { strikes: 1 } })
        await clock.advance(59_999)
        expect(await lease()).toEqual([])
        expect((await frontier.stats()).hosts.next).toMatchObject([{ host: 'a.test', reason: 'HTTP 429' }])
        await clock.advance(1)
        expect(await lease()).toHaveLength(1)
      })
    })

    describe('leases', () => {
      test('a settlement under a lease that ran out is stale and changes nothing', async () => {
        const { clock, frontier, one, end, settle, passRobots } = setup()
        await frontier.add([page('https://a.test/1')])
        await passRobots()
        await clock.advance(1_000)
        const old = await one()
        await clock.advance(60_999)
        expect((await frontier.lease({ worker: 'w', want: 1 })).leases).toEqual([])
        await clock.advance(1)
        const renewed = await one()
        expect(renewed.fence).toBeGreaterThan(old.fence)
        const late = end(old, { kind: 'done' }, { found: [page('https://a.test/found', 1)] })
        expect(await settle(late)).toEqual(['stale'])
        expect(await frontier.stats()).toMatchObject({ done: 0, discovered: 1 })
        expect(await settle(end(renewed, { kind: 'done' }))).toEqual(['settled'])
        expect(await settle(end(renewed, { kind: 'done' }))).toEqual(['stale'])
      })

      test('an extended lease keeps its host; extensions are bounded', async () => {
        const { clock, frontier, one, lease } = setup()
        await frontier.add([page('https://a.test/1')])
        const held = await one()
        await clock.advance(50_000)
        expect(await frontier.extend(held)).toBe(true)
        await clock.advance(50_000)
        expect(await lease()).toEqual([])
        let extended = 0
        while (await frontier.extend(held)) extended += 1
        expect(extended).toBeLessThan(100)
        expect(await frontier.extend({ host: held.host, fence: held.fence + 1 })).toBe(false)
      })

      test('a returned task is handed out again as it was', async () => {
        const { clock, frontier, one, end, settle, passRobots } = setup()
        await frontier.add([page('https://a.test/1')])
        await passRobots()
        await clock.advance(1_000)
        const held = await one()
        await settle(end(held, { kind: 'returned' }))
        await clock.advance(1_000)
        expect((await one()).tasks).toEqual(held.tasks)
      })

      test('a retry waits for its time, alone, and counts attempts only where told', async () => {
        const { clock, frontier, one, lease, end, settle, passRobots, urls } = setup()
        await frontier.add([page('https://a.test/1'), page('https://a.test/2')])
        await passRobots()
        await clock.advance(1_000)
        await settle(end(await one(), { kind: 'retry', notBefore: clock.now() + 10_000, counts: true }))
        await clock.advance(1_000)
        const other = await one()
        expect(urls(other)).toEqual(['https://a.test/2'])
        await settle(end(other, { kind: 'done' }))
        await clock.advance(8_999)
        expect(await lease()).toEqual([])
        await clock.advance(1)
        const again = await one()
        expect(again.tasks[0]).toMatchObject({ url: 'https://a.test/1', attempts: 1 })
        await settle(end(again, { kind: 'retry', notBefore: clock.now(), counts: false }))
        await clock.advance(1_000)
        expect((await one()).tasks[0]?.attempts).toBe(1)
      })
    })

    describe('settling', () => {
      test('commits outcomes and output together or not at all', async () => {
        const { clock, frontier, one, end, passRobots } = setup()
        await frontier.add([page('https://a.test/1')])
        await passRobots()
        await clock.advance(1_000)
        const held = await one()
        const found = [page('https://a.test/2', 1)]
        const failing = {
          append: (): never => {
            throw new Error('disk full')
          },
        }
        await expect(frontier.settle([end(held, { kind: 'done' }, { found })], failing)).rejects.toThrow('disk full')
        expect(await frontier.stats()).toMatchObject({ done: 0, discovered: 1, output: {} })
      })

      test('the output sees exactly what is accepted, and its position is kept', async () => {
        const { clock, frontier, one, end, passRobots } = setup()
        await frontier.add([page('https://a.test/1')])
        await passRobots()
        await clock.advance(1_000)
        const held = await one()
        const appended: string[] = []
        const output = {
          append: (accepted: readonly Settlement[]) => {
            appended.push(...accepted.map((settlement) => settlement.task.url))
            return { 'pages.jsonl': 42 }
          },
        }
        const good = end(held, { kind: 'done' }, { bytes: 10, tokens: 3 })
        const stale = { ...good, lease: { host: held.host, fence: held.fence + 7 } }
        const { results } = await frontier.settle([stale, good, good], output)
        expect(results).toEqual(['stale', 'settled', 'stale'])
        expect(appended).toEqual(['https://a.test/1'])
        expect(await frontier.stats()).toMatchObject({ done: 1, bytes: 10, tokens: 3, output: { 'pages.jsonl': 42 } })
      })

      test('a settled URL is never handed out again, however often it is found', async () => {
        const { clock, frontier, one, lease, end, settle, passRobots } = setup()
        await frontier.add([page('https://a.test/1')])
        await passRobots()
        await clock.advance(1_000)
        await settle(end(await one(), { kind: 'failed', code: 'http' }, { found: [page('https://a.test/1', 1)] }))
        expect(await frontier.add([page('https://a.test/1'), page('https://a.test/%31')])).toEqual({
          added: 0,
          known: 2,
        })
        await clock.advance(5_000)
        expect(await lease()).toEqual([])
        expect(await frontier.lease({ worker: 'w', want: 1 })).toMatchObject({ state: 'finished' })
      })

      test('pages are counted, sitemaps and robots.txt are not', async () => {
        const { clock, frontier, one, end, settle, passRobots } = setup()
        await frontier.add([page('https://a.test/1'), page('https://a.test/sitemap.xml', 0, { kind: 'sitemap' })])
        await passRobots()
        await clock.advance(1_000)
        const held = await one()
        expect(held.tasks[0]?.kind).toBe('sitemap')
        expect(await frontier.stats()).toMatchObject({ discovered: 1, queued: 1, leased: 0, sitemapsQueued: 1 })
        await settle(end(held, { kind: 'done' }))
        expect(await frontier.stats()).toMatchObject({
          done: 0,
          sitemapsQueued: 0,
          requests: { robots: 1, sitemap: 1, page: 0 },
        })
      })
    })

    describe('limits and depth', () => {
      test('the page limit is reserved at lease time and given back on anything but done', async () => {
        const { clock, frontier, lease, end, settle, passRobots } = setup({ delayMs: 0, concurrency: 10, maxPages: 3 })
        await frontier.add(Array.from({ length: 20 }, (_, n) => page(`https://a.test/${n}`)))
        await passRobots()
        let done = 0
        let attempts = 0
        let lost = 0
        for (;;) {
          const { leases, state } = await frontier.lease({ worker: 'w', want: 10 })
          if (state !== 'open') {
            expect(state).toBe('limit')
            break
          }
          const tasks = leases.flatMap((held) => held.tasks.map((_, index) => ({ held, index })))
          expect(tasks.length).toBeLessThanOrEqual(3 - done)
          if (tasks.length === 0) {
            // What was granted in an answer that got lost is reserved until its lease has run out.
            lost += 1
            expect(lost).toBeLessThan(4)
            await clock.advance(61_000)
          }
          for (const { held, index } of tasks) {
            attempts += 1
            const outcome: Outcome = attempts % 2 === 0 ? { kind: 'done' } : { kind: 'failed', code: 'http' }
            await settle(end(held, outcome, {}, index))
            done += outcome.kind === 'done' ? 1 : 0
          }
        }
        expect(done).toBe(3)
        expect(await lease()).toEqual([])
      })

      test('within a host the shallowest page goes first, then the one found first', async () => {
        const { frontier, lease, passRobots, urls } = setup({ delayMs: 0 })
        await frontier.add([page('https://a.test/deep', 3), page('https://a.test/x', 1), page('https://a.test/y', 1)])
        await passRobots()
        const [held] = await lease()
        expect(urls(held as Lease)).toEqual(['https://a.test/x', 'https://a.test/y', 'https://a.test/deep'])
      })

      test('a page beyond the depth limit is held to the end, then handed out to be skipped', async () => {
        const { frontier, one, end, settle, passRobots, urls } = setup({ delayMs: 0, maxDepth: 0 })
        await frontier.add([page('https://a.test/')])
        await passRobots()
        await settle(
          end(await one(), { kind: 'done' }, { found: [page('https://a.test/1', 1), page('https://b.test/', 1)] }),
        )
        expect(await frontier.stats()).toMatchObject({ discovered: 3, queued: 2, held: 2, done: 1 })
        for (const url of ['https://a.test/1', 'https://b.test/']) {
          const held = await one()
          expect(urls(held)).toEqual([url])
          const task = held.tasks[0] as Task
          await settle({ lease: held, task, outcome: { kind: 'skipped', reason: 'depth' } })
        }
        expect(await frontier.stats()).toMatchObject({ queued: 0, held: 0, skipped: { depth: 2 } })
        expect(await frontier.lease({ worker: 'w', want: 1 })).toMatchObject({ state: 'finished' })
      })

      test('a held page that a shorter path frees while it is out to be skipped is queued again', async () => {
        const { frontier, one, end, settle, passRobots } = setup({ delayMs: 0, maxDepth: 0 })
        await frontier.add([page('https://a.test/')])
        await passRobots()
        await settle(end(await one(), { kind: 'done' }, { found: [page('https://a.test/1', 1)] }))
        const held = await one()
        await frontier.add([page('https://a.test/1')])
        const task = held.tasks[0] as Task
        expect(await settle({ lease: held, task, outcome: { kind: 'skipped', reason: 'depth' } })).toEqual(['stale'])
        expect(await frontier.stats()).toMatchObject({ queued: 1, held: 0, skipped: {} })
        expect((await one()).tasks).toMatchObject([{ url: 'https://a.test/1', depth: 0 }])
      })

      test('a shorter path found later re-opens what was too deep behind it', async () => {
        const { frontier, one, end, settle, passRobots, urls } = setup({ delayMs: 0, maxDepth: 2 })
        // / → far (2) → behind (3, too deep); later / → near → far makes far 1 and behind 2.
        await frontier.add([page('https://a.test/far', 2)])
        await passRobots()
        const far = await one()
        expect(urls(far)).toEqual(['https://a.test/far'])
        await settle(end(far, { kind: 'done' }, { found: [page('https://a.test/behind', 3)] }))
        expect(await frontier.stats()).toMatchObject({ held: 1 })
        await frontier.add([page('https://b.test/')])
        await passRobots()
        await settle(end(await one(), { kind: 'done' }, { found: [page('https://a.test/far', 1)] }))
        expect(await frontier.stats()).toMatchObject({ held: 0, queued: 1 })
        expect((await one()).tasks).toMatchObject([{ url: 'https://a.test/behind', depth: 2 }])
      })

      test('links are pages one step deeper than the page that names them', async () => {
        const { frontier, one, end, settle, passRobots } = setup({ delayMs: 0, maxDepth: 2 })
        await frontier.add([page('https://a.test/far', 2)])
        await passRobots()
        await settle(end(await one(), { kind: 'done' }, { links: ['https://a.test/behind' as NormalizedUrl] }))
        expect(await frontier.stats()).toMatchObject({ discovered: 2, held: 1 })
        await frontier.add([page('https://b.test/')])
        await passRobots()
        const links = ['https://a.test/far' as NormalizedUrl, 'https://b.test/new' as NormalizedUrl]
        await settle(end(await one(), { kind: 'done' }, { links }))
        expect(await frontier.stats()).toMatchObject({ discovered: 4, held: 0, queued: 2 })
        const tasks = [...(await one()).tasks, ...(await one()).tasks].sort((x, y) => x.depth - y.depth)
        expect(tasks).toMatchObject([
          { url: 'https://b.test/new', depth: 1, via: 'link', referrer: 'https://b.test/' },
          { url: 'https://a.test/behind', depth: 2, via: 'link', referrer: 'https://a.test/far' },
        ])
      })

      test('links are those that their texts name, whatever numbers they have in which era', async () => {
        const { frontier, one, end, settle, passRobots, urls } = setup({ delayMs: 0 })
        const at = (path: string): NormalizedUrl => `https://a.test/${path}` as NormalizedUrl
        const [first, second] = [{}, {}]
        const named = [
          { links: [at('x'), at('y')], numbering: { numbers: [1, 2], era: first } },
          { links: [at('y'), at('z')], numbering: { numbers: [2, 3], era: first } },
          { links: [at('z'), at('v'), at('x')], numbering: { numbers: [1, 2, 3], era: second } },
          { links: [at('x'), at('w')], numbering: { numbers: [1, 3], era: first } },
          { links: [at('v'), at('u')] },
        ]
        await frontier.add(named.map((_, index) => page(`https://a.test/${index}`)))
        await passRobots()
        const seen: string[] = []
        while (seen.length < 11) {
          const lease = await one()
          for (const [index, url] of urls(lease).entries()) {
            await settle(end(lease, { kind: 'done' }, named[seen.length] ?? {}, index))
            seen.push(url)
          }
        }
        expect(seen.toSorted()).toEqual('0 1 2 3 4 u v w x y z'.split(' ').map(at))
        expect(await frontier.stats()).toMatchObject({ discovered: 11, done: 11, queued: 0 })
      })
    })

    describeHealth(setup)
    describeGroups(setup, share)
    describeSharing(setup)
    describeTiers(setup, share)
    describeRevisits(setup)
    describeTraps(setup)

    test('a crawl is over when nothing is queued and nothing is leased, and not before', async () => {
      const { frontier, one, end, settle, passRobots } = setup({ delayMs: 0 })
      expect(await frontier.lease({ worker: 'w', want: 1 })).toMatchObject({ state: 'finished' })
      await frontier.add([page('https://a.test/')])
      await passRobots()
      const held = await one()
      expect(await frontier.lease({ worker: 'w', want: 1 })).toMatchObject({ leases: [], state: 'open' })
      await settle(end(held, { kind: 'done' }))
      expect(await frontier.lease({ worker: 'w', want: 1 })).toMatchObject({ state: 'finished' })
    })

    test('conservation, pace, blocks and one lease per URL hold through any sequence of verbs', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.record({ step: fc.integer({ min: 0, max: 10 }), a: fc.nat(11), b: fc.nat(3), ms: fc.nat(4_000) }),
            { maxLength: 60 },
          ),
          fc.integer({ min: 1, max: 3 }),
          fc.constantFrom(0, 10, 1_000),
          fc.option(fc.nat(8), { nil: undefined }),
          fc.constantFrom(0, 0, 500),
          fc.constantFrom(1, 20_000),
          async (steps, concurrency, delayMs, maxDepth, domainDelayMs, hostsKept) => {
            const { clock, frontier, settle } = setup({
              delayMs,
              concurrency,
              maxDepth,
              maxPages: 15,
              leaseMs: 3_000,
              groups: { domainDelayMs, addressDelayMs: 0 },
              hostsKept,
            })
            const held: Lease[] = []
            const answered = new Map<string, number>()
            const blocked = new Map<string, number>()
            const final = new Set<number>()
            /** Handed out to be skipped: nothing is sent under it. */
            const isSkip = (granted: Lease): boolean =>
              maxDepth !== undefined && granted.tasks.every((task) => task.depth > maxDepth)
            const answer = (host: string, at: number): void =>
              void answered.set(host, Math.max(at, answered.get(host) ?? 0))
            for (const { step, a, b, ms } of steps) {
              const now = clock.now()
              if (step < 3) await frontier.add([page(`https://h${b}.test/${a}`, a % 5)])
              else if (step < 5) await clock.advance(ms)
              else if (step < 7) {
                const unproven = a % 2 === 0 ? {} : { unproven: b }
                const { leases, nextAt } = await frontier.lease({ worker: `w${a % 2}`, want: 1 + b, ...unproven })
                const doubtful = leases.filter((granted) => granted.health.streak <= 0 && !isSkip(granted))
                if (a % 2 === 1) expect(doubtful.length).toBeLessThanOrEqual(b)
                if (leases.length === 0 && nextAt !== null) expect(nextAt).toBeGreaterThan(now)
                for (const granted of held) {
                  if (granted.expiresAt <= now && !isSkip(granted)) answer(granted.host, granted.expiresAt)
                }
                for (const granted of leases) {
                  const last = answered.get(granted.host)
                  if (last !== undefined && !isSkip(granted))
                    expect(granted.notBefore).toBeGreaterThanOrEqual(last + delayMs)
                  if (!isSkip(granted)) expect(granted.notBefore).toBeGreaterThanOrEqual(blocked.get(granted.host) ?? 0)
                  for (const task of granted.tasks) if (task.id !== 0) expect(final.has(task.id)).toBe(false)
                  held.push(granted)
                }
                const open = held.filter((granted) => granted.expiresAt > now)
                const names = open.flatMap((granted) => granted.tasks.map((task) => `${task.origin} ${task.id}`))
                expect(new Set(names).size).toBe(names.length)
              } else if (step < 8) {
                const until = now + ms
                const change = { blockedUntil: until, health: answering(-1, { blockedAt: now }) }
                const host = `h${b}.test`
                if ((await frontier.host(host as never, change)) !== undefined) blocked.set(host, until)
              } else {
                const taken = held.splice(a % Math.max(held.length, 1), 1)[0]
                if (taken === undefined) continue
                for (const task of taken.tasks) {
                  const found = [page(`https://h${b}.test/${a}/${task.id}`, task.depth + 1)]
                  const tooDeep = maxDepth !== undefined && task.depth > maxDepth
                  const outcome: Outcome = tooDeep
                    ? { kind: 'skipped', reason: 'depth' }
                    : task.kind === 'robots' || a % 4 < 2
                      ? { kind: 'done' }
                      : a % 4 === 2
                        ? { kind: 'failed', code: 'timeout' }
                        : { kind: 'retry', notBefore: now + ms, counts: true }
                  const [result] = await settle({
                    lease: taken,
                    task,
                    outcome,
                    ...(tooDeep ? {} : { answeredAt: now, found, host: { health: answering(1 + a) } }),
                    ...(task.kind === 'robots' ? { robots: allowAll(task, now, { expiresAt: now + 20_000 }) } : {}),
                  })
                  if (result === 'stale' && !tooDeep) answer(taken.host, taken.expiresAt)
                  if (result === 'stale') continue
                  if (!tooDeep) answer(taken.host, now)
                  if (task.id !== 0 && outcome.kind !== 'retry') final.add(task.id)
                }
              }
              const stats = await frontier.stats()
              expect(conserved(stats)).toBe(true)
              expect(stats.done).toBeLessThanOrEqual(15)
            }
            await frontier.close()
          },
        ),
        { numRuns: Math.ceil(150 * share) },
      )
    })
  })
}
