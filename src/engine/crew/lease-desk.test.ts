import { expect, test } from 'vitest'
import { createVirtualClock } from '../../base/index.ts'
import type { HostChange, Lease, LeaseAnswer } from '../../frontier/index.ts'
import type { HostKey, Task } from '../../model/index.ts'
import { createPolitenessAudit } from '../../politeness/index.ts'
import { createHands, newHand, type Hand } from './hands.ts'
import { createLeaseDesk } from './lease-desk.ts'

const DELAY_MS = 500
const REQUEST = { worker: 'here', want: 1, unproven: 1, request: '0' }

/** Two who work, and a host that may be asked by three requests at once; the frontier answers when it is told to. */
function setUp({ concurrency = 3 } = {}) {
  const clock = createVirtualClock()
  const policyOf = () => ({ delayMs: DELAY_MS, concurrency })
  const audit = createPolitenessAudit({ clock, policyOf, onViolation: () => {} })
  const hands = createHands(8)
  const told: string[] = []
  const enter = (thread: number): Hand => {
    const hand = newHand(thread, audit)
    hand.member = { ...hand.member, line: { tell: (name) => void told.push(`${thread} ${name}`) } }
    hands.add(hand)
    return hand
  }
  const answers: Promise<LeaseAnswer>[] = []
  const givenBack: { readonly fence: number; readonly host: HostChange | undefined }[] = []
  const desk = createLeaseDesk(
    {
      clock,
      registry: { policyOf } as never,
      seedScope: { seeds: [], size: 0 },
      frontier: { lease: () => answers.shift() } as never,
    },
    {
      hands,
      consumer: { pass: () => undefined, open: () => {} },
      ending: { reason: undefined },
      settlements: { giveBack: ({ fence }, host) => void givenBack.push({ fence, host }) },
      onReached: () => {},
    },
  )
  const leaseOf = (fence: number): Lease =>
    ({ host: 'a.test' as HostKey, fence, delayMs: DELAY_MS, tasks: [{} as Task] }) as unknown as Lease
  /** Asks, and the frontier grants these: they are on their way until they arrive. */
  const grant = async (hand: Hand, ...fences: number[]) => {
    const answer = Promise.withResolvers<LeaseAnswer>()
    answers.push(answer.promise)
    const asking = desk.lease(hand, REQUEST)
    await clock.turn()
    return async (): Promise<number[]> => {
      answer.resolve({ leases: fences.map(leaseOf), nextAt: null, state: 'open' })
      return (await asking).leases.map(({ fence }) => fence)
    }
  }
  const lease = async (hand: Hand, fence: number): Promise<number[]> => (await grant(hand, fence))()
  return { clock, desk, hands, told, givenBack, leaseOf, grant, lease, first: enter(0), second: enter(1) }
}

test('a host that several requests may ask at once is worked on by one, who is told to come for what others were granted', async () => {
  const { lease, told, first, second } = setUp()
  expect(await lease(first, 1)).toEqual([1])
  expect(await lease(second, 2)).toEqual([])
  expect(told).toEqual(['0 look'])
  expect(await lease(first, 3)).toEqual([2])
})

test('any other host is for whoever asks', async () => {
  const { lease, first, second } = setUp({ concurrency: 1 })
  expect(await lease(first, 1)).toEqual([1])
  expect(await lease(second, 2)).toEqual([2])
})

test('the host of one who is lost is left alone until the frontier knows of it, and then is for whoever asks', async () => {
  const { lease, desk, hands, leaseOf, givenBack, clock, first, second } = setUp()
  await lease(first, 1)
  hands.remove(first)
  expect(await lease(second, 2)).toEqual([])
  const blockedUntil = clock.now() + DELAY_MS
  expect(givenBack).toEqual([{ fence: 2, host: { blockedUntil, blockedReason: 'the thread that asked it was lost' } }])
  desk.leaseOver(leaseOf(1))
  expect(await lease(second, 3)).toEqual([3])
})

test('a lease that was granted before the frontier knew of an answer goes to the one who had it', async () => {
  const { lease, grant, desk, leaseOf, first, second } = setUp()
  await lease(first, 1)
  const arrive = await grant(second, 2)
  desk.leaseOver(leaseOf(1))
  expect(await arrive()).toEqual([])
  expect(first.kept.map(({ fence }) => fence)).toEqual([2])
})

test('what is granted to one who is lost meanwhile goes back', async () => {
  const { grant, hands, givenBack, second } = setUp()
  const arrive = await grant(second, 1)
  hands.remove(second)
  expect(await arrive()).toEqual([])
  expect(givenBack).toEqual([{ fence: 1, host: undefined }])
})
