/** Several processes on one crawl, and servers that take over without the last writes: what must hold through all of it. */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { allowAll, conserved, page } from '../../../test/conformance/harness.ts'
import { sharedRedis } from '../../../test/support/redis/shared.ts'
import { createVirtualClock } from '../../base/index.ts'
import type { FoundUrl, Outcome, Task } from '../../model/index.ts'
import type { Frontier, Lease, Settlement } from '../contract.ts'
import { DEFAULT_QUOTAS, DEFAULT_RECRAWL, DEFAULT_SCORE } from '../defaults.ts'
import { createLostWrites } from './test-support/lost-writes.ts'
import { createTestFrontiers, type TestFrontiers } from './test-support/test-frontiers.ts'

let frontiers: TestFrontiers
beforeAll(async () => {
  frontiers = createTestFrontiers(await sharedRedis())
})
afterAll(() => frontiers.close())

const LEASE_MS = 3_000
/** A server that takes over knows everything that is older. */
const MOST_LOST_MS = 10_000

const STEP = fc.record({ step: fc.nat(14), a: fc.nat(11), b: fc.nat(3), ms: fc.nat(2_000) })

test('no host is asked too soon, no URL ends twice, and none is lost', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(STEP, { maxLength: 90, size: 'max' }),
      fc.constantFrom(0, 500),
      fc.constantFrom(undefined, 2),
      async (steps, delayMs, maxDepth) => {
        const clock = createVirtualClock()
        const crawl = `failover-${randomUUID()}`
        const open = (worker: string): Frontier =>
          frontiers.open(
            {
              policyOf: () => ({ delayMs, concurrency: 1 }),
              crawlDelayMs: (askedMs) => askedMs,
              latency: { factor: 0, maxDelayMs: 0 },
              groups: { domainDelayMs: 0, addressDelayMs: 0 },
              maxPages: undefined,
              maxDepth,
              maxPagesPerHost: undefined,
              leaseMs: LEASE_MS,
              quotas: DEFAULT_QUOTAS,
              score: DEFAULT_SCORE,
              recrawl: DEFAULT_RECRAWL,
              traps: false,
              crawl,
              worker,
              partitions: 2,
            },
            clock,
          )
        const workers = [open('w0'), open('w1')] as const
        for (const worker of workers) await worker.stats()
        const lost = createLostWrites(frontiers.link, crawl)
        const held: { readonly lease: Lease; readonly worker: number }[] = []
        const answered = new Map<string, number>()
        const written: string[] = []
        const known = new Set<string>()
        /** Since the crawl was remembered. */
        const seeds: FoundUrl[] = []
        let remembered: number | undefined
        const answer = (host: string, at: number): void =>
          void answered.set(host, Math.max(at, answered.get(host) ?? 0))
        const isSkip = ({ tasks }: Lease): boolean =>
          maxDepth !== undefined && tasks.every(({ depth, kind }) => kind === 'page' && depth > maxDepth)

        const lease = async (worker: number): Promise<string> => {
          const now = clock.now()
          for (const { lease: taken } of held.splice(0).filter((each) => {
            if (each.lease.expiresAt > now) held.push(each)
            return each.lease.expiresAt <= now
          }))
            if (!isSkip(taken)) answer(taken.host, taken.expiresAt)
          const { leases, state } = await (workers[worker] as Frontier).lease({ worker: `w${worker}`, want: 3 })
          for (const granted of leases) {
            const isOpen = held.some(({ lease: other }) => other.host === granted.host && !isSkip(other))
            if (!isSkip(granted)) {
              expect(isOpen).toBe(false)
              expect(now).toBeGreaterThanOrEqual((answered.get(granted.host) ?? -delayMs) + delayMs)
            }
            for (const { kind, url } of granted.tasks) if (kind === 'page') expect(written).not.toContain(url)
            held.push({ lease: granted, worker })
          }
          return state
        }

        const settle = async (index: number, a: number, b: number): Promise<void> => {
          const [taken] = held.splice(index % Math.max(held.length, 1), 1)
          if (taken === undefined) return
          const now = clock.now()
          const deep = isSkip(taken.lease)
          const settlements = taken.lease.tasks.map((task: Task): Settlement => {
            const found = a > 8 ? [] : [page(`https://h${b}.test/${a}/${task.depth + 1}`, task.depth + 1)]
            const robots = task.kind === 'robots' ? { robots: allowAll(task, now) } : {}
            const outcome: Outcome = deep
              ? { kind: 'skipped', reason: 'depth' }
              : task.kind === 'page' && a % 5 === 4
                ? { kind: 'retry', notBefore: now + 1_000, counts: true }
                : { kind: 'done' }
            const named = outcome.kind === 'done' ? { found } : {}
            return { lease: taken.lease, task, outcome, ...(deep ? {} : { answeredAt: now, ...named, ...robots }) }
          })
          const { results } = await (workers[taken.worker] as Frontier).settle(settlements, {
            append(accepted) {
              for (const { task, outcome } of accepted)
                if (task.kind === 'page' && outcome.kind !== 'retry') written.push(task.url)
              return { 'pages.jsonl': written.length }
            },
          })
          results.forEach((result, at) => {
            const { found = [] } = settlements[at] as Settlement
            if (result === 'settled') for (const { url } of found) known.add(url)
          })
          // What was not accepted was asked for all the same.
          if (!deep) answer(taken.lease.host, now)
        }

        for (const { step, a, b, ms } of steps) {
          if (step < 3) {
            const seed = page(`https://h${b}.test/${a}`, a % 3)
            await workers[a % 2]?.add([seed])
            known.add(seed.url)
            seeds.push(seed)
          } else if (step < 5) await clock.advance(ms)
          else if (step < 8) await lease(a % 2)
          else if (step < 11) await settle(a, a, b)
          else if (step === 11) {
            await lost.remember()
            remembered = clock.now()
            seeds.length = 0
          } else if (remembered !== undefined && clock.now() - remembered < MOST_LOST_MS) {
            await clock.advance(1)
            await lost.lose()
            await lost.changeServer()
            remembered = undefined
            // Workers ask all the time. Only for what was added by hand is there nobody to say it again.
            for (const worker of [0, 1, 0, 1]) await lease(worker)
            await open('seeder').add(seeds)
          }
          const stats = await workers[0].stats()
          expect(conserved(stats)).toBe(true)
        }

        for (let turn = 0; turn < 400; turn++) {
          const state = await lease(turn % 2)
          if (state === 'finished') break
          while (held.length > 0) await settle(0, 10, 0)
          await clock.advance(500)
        }
        const stats = await workers[1].stats()
        expect(conserved(stats)).toBe(true)
        expect(stats).toMatchObject({ queued: 0, leased: 0, discovered: known.size })
        expect(written.toSorted()).toEqual([...known].toSorted())
      },
    ),
    { numRuns: 20 },
  )
})
