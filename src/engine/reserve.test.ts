import { describe, expect, test } from 'vitest'
import { createVirtualClock } from '../base/index.ts'
import type { HostKey } from '../model/index.ts'
import { createPolitenessAudit } from '../politeness/index.ts'
import { createReserve } from './reserve.ts'

const host = 'a.test' as HostKey

describe('the reserve towards hosts', () => {
  const setup = () => {
    const clock = createVirtualClock()
    const policyOf = () => ({ delayMs: 0, concurrency: 1 })
    const audit = createPolitenessAudit({ clock, policyOf, onViolation: () => {} })
    return { clock, audit, reserve: createReserve({ clock, audit }) }
  }
  const limits = { concurrency: 1, delayMs: 5_000 }

  test('keeps the longest pause that was asked for, with its reason, and tells the audit', async () => {
    const { clock, audit, reserve } = setup()
    const now = clock.now()
    reserve.pause(host, now + 3_000, 'HTTP 429')
    reserve.pause(host, now + 1_000, 'HTTP 503')
    expect(reserve.against(host, limits)).toEqual({ blockedUntil: now + 3_000, blockedReason: 'HTTP 429' })
    expect(audit.freeAt(host)).toBe(now + 3_000)
    await clock.advance(3_000)
    expect(reserve.against(host, limits)).toBeUndefined()
  })

  test('has nothing against as many leases as the host may have', () => {
    const { reserve } = setup()
    reserve.enter(host)
    expect(reserve.against(host, limits)).toBeUndefined()
  })

  test('gives back a lease on a host that is still being asked under another one', () => {
    const { clock, reserve } = setup()
    const leave = reserve.enter(host)
    reserve.enter(host)
    expect(reserve.against(host, limits)).toMatchObject({ blockedUntil: clock.now() + 5_000 })
    leave()
    expect(reserve.against(host, limits)).toBeUndefined()
  })
})
