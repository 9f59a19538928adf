import { describe, expect, test } from 'vitest'
import type { HostKey, HostRecord, NormalizedUrl, Origin, RobotsRecord } from '../model/index.ts'
import { createHostRegistry } from './index.ts'

const record = (more: Partial<RobotsRecord>): RobotsRecord => ({
  origin: 'https://a.test' as Origin,
  state: 'rules',
  refusal: null,
  status: 200,
  detail: 'HTTP 200',
  fetchedAt: 0,
  version: '1a2b3c4d',
  staleSince: null,
  expiresAt: 1,
  body: '',
  crawlDelayMs: 0,
  ...more,
})
const url = (text: string): NormalizedUrl => text as NormalizedUrl

describe('the host registry', () => {
  const setup = (kept: RobotsRecord[] = []) => {
    const loads: string[] = []
    const registry = createHostRegistry({
      defaultPolicy: { delayMs: 1_000, concurrency: 1 },
      sites: [
        { match: 'docs.a.test', delayMs: 200 },
        { match: '*.a.test', concurrency: 4 },
      ],
      productToken: 'Tiptoe',
      load: async (host) => {
        loads.push(host)
        return { robots: kept } as unknown as HostRecord
      },
    })
    return { registry, loads }
  }

  test('a site has what its first matching rule says, and the default for the rest', () => {
    const { registry } = setup()
    expect(registry.policyOf('docs.a.test' as HostKey)).toEqual({ delayMs: 200, concurrency: 1 })
    expect(registry.policyOf('www.a.test' as HostKey)).toEqual({ delayMs: 1_000, concurrency: 4 })
    expect(registry.policyOf('b.test' as HostKey)).toEqual({ delayMs: 1_000, concurrency: 1 })
  })

  test('gives the verdict with the line that decides, reading what is kept once', async () => {
    const { registry, loads } = setup([record({ body: 'User-agent: *\nDisallow: /private/\n' })])
    expect(await registry.verdict(url('https://a.test/private/x'))).toEqual({
      allowed: false,
      reason: 'robots',
      detail: 'robots.txt line 2: Disallow: /private/ (version 1a2b3c4d)',
    })
    expect(await registry.verdict(url('https://a.test/public'), '1a2b3c4d')).toEqual({
      allowed: true,
      detail: 'no rule of robots.txt applies (version 1a2b3c4d)',
    })
    expect(loads).toEqual(['a.test'])
  })

  test('reads what is kept again when the lease names another version', async () => {
    const kept = [record({ body: 'User-agent: *\nDisallow: /private/\n' })]
    const { registry, loads } = setup(kept)
    expect(await registry.verdict(url('https://a.test/new'), null)).toMatchObject({ allowed: true })
    kept[0] = record({ body: 'User-agent: *\nDisallow: /new\n', version: '5e6f7a8b', fetchedAt: 1 })
    expect(await registry.verdict(url('https://a.test/new'), '1a2b3c4d')).toMatchObject({ allowed: true })
    expect(await registry.verdict(url('https://a.test/new'), '5e6f7a8b')).toEqual({
      allowed: false,
      reason: 'robots',
      detail: 'robots.txt line 2: Disallow: /new (version 5e6f7a8b)',
    })
    expect(loads).toHaveLength(2)
    expect(await registry.verdict(url('https://a.test/new'), '5e6f7a8b')).toMatchObject({ allowed: false })
    expect(loads).toHaveLength(2)
  })

  test('what was learnt stays in force while the store still has the version before', async () => {
    const { registry } = setup([record({ state: 'allow-all' })])
    registry.learn(record({ body: 'User-agent: *\nDisallow: /', version: '5e6f7a8b', fetchedAt: 1 }))
    expect(await registry.verdict(url('https://a.test/'), '1a2b3c4d')).toMatchObject({ allowed: false })
  })

  test('has the record of an origin, as it is kept for everyone', async () => {
    const kept = [record({ detail: 'kept' })]
    const { registry, loads } = setup(kept)
    expect(await registry.recordOf('https://a.test' as Origin)).toEqual(kept[0])
    expect(await registry.recordOf('https://a.test' as Origin)).toEqual(kept[0])
    expect(loads).toEqual(['a.test', 'a.test'])
    expect(await registry.recordOf('https://a.test:8443' as Origin)).toBeUndefined()
  })

  test('without a record of the origin there is no verdict', async () => {
    const { registry } = setup([record({ origin: 'http://a.test' as Origin })])
    expect(await registry.verdict(url('https://a.test/'))).toBeUndefined()
  })

  test('an origin that may not be asked at all is refused for its own reason', async () => {
    const { registry } = setup([record({ state: 'disallow-all', refusal: 'robots-unreachable', detail: 'HTTP 500' })])
    const verdict = await registry.verdict(url('https://a.test/'))
    expect(verdict).toEqual({ allowed: false, reason: 'robots-unreachable', detail: 'HTTP 500' })
  })

  test('what was just learnt counts at once', async () => {
    const { registry } = setup([record({ body: 'User-agent: *\nDisallow: /' })])
    expect(await registry.verdict(url('https://a.test/'))).toMatchObject({ allowed: false })
    registry.learn(record({ state: 'allow-all', status: 404 }))
    expect(await registry.verdict(url('https://a.test/'))).toMatchObject({ allowed: true })
  })
})
