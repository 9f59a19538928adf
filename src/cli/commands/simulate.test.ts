import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LoopbackWeb } from '../demo/index.ts'
import { flagsFor, runCommand } from '../test-support/run-command.ts'
import { createSmallTown } from '../test-support/small-town.ts'

interface PlanJson {
  readonly what: string
  readonly assumptions: readonly string[]
  readonly configuredSlots: number
  readonly plan: {
    readonly end: string
    readonly slots: number
    readonly durationMs: number
    readonly pages: number
    readonly failed: number
    readonly requests: number
    readonly hosts: number
    readonly boundBy: string
  }
  readonly longestHosts: readonly { readonly host: string; readonly delayMs: number; readonly from: string }[]
  readonly bySlots: readonly { readonly slots: number; readonly durationMs: number }[]
  readonly enoughSlots: number
}

const folder = mkdtempSync(join(tmpdir(), 'tiptoe-simulate-test-'))
const [finished, stopped] = [join(folder, 'finished'), join(folder, 'stopped')]
let web: LoopbackWeb

beforeAll(async () => {
  web = await createSmallTown()
  const crawl = (out: string, ...words: string[]): Promise<unknown> =>
    runCommand([
      web.url('a.test'),
      web.url('b.test'),
      '--scope',
      'host',
      '--delay',
      '20ms',
      '-o',
      out,
      '-q',
      ...words,
      ...flagsFor(web),
    ])
  await crawl(finished)
  await crawl(stopped, '--max-pages', '2')
})
afterAll(async () => {
  await web.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Without regard to the hosts' latencies, which differ from run to run. */
const STEADY = { TIPTOE_LATENCY_FACTOR: '0' }

async function plan(...words: string[]): Promise<PlanJson> {
  const { code, json } = await runCommand(['simulate', ...words, '--json'], STEADY)
  expect(code).toBe(0)
  return json() as unknown as PlanJson
}

describe('a crawl that has not begun', () => {
  test('takes the requests of its longest host, each with its delay and its answer', async () => {
    const {
      plan: planned,
      longestHosts,
      enoughSlots,
    } = await plan('https://a.test/', '--pages', '40', '--latency', '200ms', '--delay', '2s')
    // robots.txt and the usual sitemap are asked for too.
    expect(planned).toMatchObject({ end: 'finished', pages: 40, requests: 42, hosts: 1, boundBy: 'host' })
    expect(planned.durationMs).toBeGreaterThan(42 * 200 + 41 * 2_000)
    expect(planned.durationMs).toBeLessThan(43 * 2_250)
    expect(longestHosts).toMatchObject([{ host: 'a.test', pages: 40, delayMs: 2_000, from: 'policy' }])
    expect(enoughSlots).toBe(1)
  })

  test('is planned with as many hosts as are assumed, the seeds among them', async () => {
    const { plan: planned, assumptions } = await plan('a.test', 'b.test', '--hosts', '30', '--pages', '5')
    expect(planned).toMatchObject({ hosts: 30, pages: 150 })
    expect(assumptions[0]).toBe('30 hosts, 2 of them named by the seeds; all known from the start')
  })

  test('is compared with the numbers of pages at once that are asked for', async () => {
    const { bySlots, configuredSlots } = await plan(
      'a.test',
      '--hosts',
      '20',
      '--pages',
      '5',
      '--delay',
      '0',
      '--latency',
      '1s',
      '--workers',
      '5, 1, 20',
    )
    expect(configuredSlots).toBe(20)
    expect(bySlots.map(({ slots }) => slots)).toEqual([1, 5, 20])
    const [one, five, twenty] = bySlots.map(({ durationMs }) => durationMs) as [number, number, number]
    expect(one).toBeGreaterThan(4 * five)
    expect(five).toBeGreaterThan(3 * twenty)
  })

  test('is planned with one number alone when only that is asked for', async () => {
    const { plan: planned, bySlots } = await plan('a.test', '--pages', '3', '--workers', '3')
    expect(planned.slots).toBe(3)
    expect(bySlots).toHaveLength(1)
  })

  test('has the seeds, paces and limits of its configuration', async () => {
    const config = join(folder, 'crawl.yaml')
    writeFileSync(
      config,
      'seeds: [https://a.test/, https://b.test/]\ncrawler: { limits: { max_pages: 9 } }\nsites: { a.test: { delay: 7s } }\n',
    )
    const { plan: planned, longestHosts } = await plan('-c', config)
    expect(planned).toMatchObject({ end: 'limit', pages: 9, boundBy: 'limit' })
    expect(longestHosts.find(({ host }) => host === 'a.test')).toMatchObject({ delayMs: 7_000, from: 'policy' })
  })

  test('says which hosts share a pace by their domain or address, and when that bounds it', async () => {
    const words = ['https://a.test/', '--hosts', '4', '--pages', '8', '--scope', 'domain', '--per-domain-delay', '3s']
    const { stdout } = await runCommand(['simulate', ...words, '--per-ip-delay', '1s'], STEADY)
    expect(stdout).toMatch(
      /bound by +one domain: the 4 hosts of a\.test share a delay of 3s, and take \dm \d\ds by themselves/,
    )
    expect(stdout).toContain(
      'hosts of one registrable domain share its delay of 3s: 4 hosts of 1 domain, by their names',
    )
    expect(stdout).toContain('hosts at one address share its delay of 1s: each host is taken to be at one of its own')
    const { plan: planned, assumptions } = await plan(...words)
    expect(planned.boundBy).toBe('domain')
    expect(assumptions.join()).not.toContain('hosts at one address')
  })

  test('is told in words, with a chart, the hosts, the comparison and what is assumed', async () => {
    const { stdout } = await runCommand(['simulate', 'https://a.test/', '--pages', '60'])
    expect(stdout).toMatch(
      /^1 seed: a crawl that has not begun\n\nIt takes 1m \d\ds with 20 pages fetched at once, as configured\.$/m,
    )
    expect(stdout).toMatch(/bound by +one host: a\.test takes 1m \d\ds by itself/)
    expect(stdout).toMatch(/^pages\/s\n( +[\d.]* +\|[#:. ]*\n)+ +\+-+\n +0s .*1m \d\ds$/m)
    expect(stdout).toMatch(/^a\.test +60 +1s \(policy\) +\d+ms +1m \d\ds$/m)
    expect(stdout).toMatch(/^1 +1m \d\ds +\d+% +\d+% +more do not help$/m)
    expect(stdout).toContain('200ms to every answer (--latency, by default)')
    expect(stdout).toContain('robots.txt was not read')
  })
})

describe('a crawl with a folder', () => {
  test('has nothing left when it is finished', async () => {
    const { stdout, code } = await runCommand(['simulate', finished])
    expect(code).toBe(0)
    expect(stdout).toContain('Nothing is left to be asked for')
  })

  test('is planned from its start with every request that its hosts saw', async () => {
    const seen = web.log.filter(({ userAgent }) => userAgent !== null)
    const requests = new Set(seen.map(({ host, path }) => `${host}${path}`))
    const { plan: planned, longestHosts, what } = await plan(finished, '--whole')
    expect(what).toBe(`${finished}: the whole crawl, from its start`)
    expect(planned).toMatchObject({ end: 'finished', pages: 8, failed: 1, requests: requests.size, hosts: 2 })
    // The Crawl-delay of its robots.txt is longer than the delay that was asked for.
    expect(longestHosts[0]).toMatchObject({ host: `a.test`, delayMs: 30, from: 'Crawl-delay' })
  })

  test('is planned with what is left of it, and says that links are still to be found', async () => {
    const { plan: planned, assumptions } = await plan(stopped, '--max-pages', 'none')
    expect(planned.pages + planned.failed).toBeGreaterThan(0)
    expect(planned.pages).toBeLessThan(8)
    expect(assumptions.join('\n')).toContain('links that were not found yet are not in it')
  })

  test('ends at what is left of its page limit', async () => {
    const { plan: planned } = await plan(stopped, '--max-pages', '3')
    // Which two pages were saved first decides whether more than one is known besides.
    const { plan: whole } = await plan(stopped, '--max-pages', 'none')
    const known = whole.pages + whole.failed
    expect(planned).toMatchObject({ end: known > 1 ? 'limit' : 'finished', pages: 1 })
  })

  test('may be planned with another pace', async () => {
    const [slow, quick] = [await plan(finished, '--whole', '--delay', '5s'), await plan(finished, '--whole')]
    expect(slow.plan.requests).toBe(quick.plan.requests)
    expect(slow.plan.durationMs).toBeGreaterThan(40_000)
  })

  test('is not changed by being planned', async () => {
    const before = await runCommand(['status', stopped, '--json'])
    await plan(stopped)
    const after = await runCommand(['status', stopped, '--json'])
    expect(after.stdout).toBe(before.stdout)
  })
})

describe('the crawler itself', () => {
  test('is tested by a seed, the same every time', async () => {
    const [first, again] = [
      await runCommand(['simulate', '--seed', '7']),
      await runCommand(['simulate', '--seed', '7']),
    ]
    expect(first.code).toBe(0)
    expect(first.stdout).toMatch(/^seed 7: every promise was kept$/m)
    expect(first.stdout).toMatch(/^ +digest +[0-9a-f]{16}$/m)
    expect(again.stdout).toBe(first.stdout)
  })

  test('is tested by many seeds in a row', async () => {
    const { code, json } = await runCommand(['simulate', '--seeds', '3', '--seed', '11', '--json'])
    expect(code).toBe(0)
    expect(json()).toMatchObject({ from: 11, count: 3, failing: [] })
  })

  test('is tested by a fleet of any size', async () => {
    const { code, json } = await runCommand(['simulate', '--fleet', '--workers', '5', '--hosts', '200', '--json'])
    expect(code).toBe(0)
    expect(json()).toMatchObject({ ok: true, workers: 5, hosts: 200, pages: 200 })
  })
})

test.each([
  [['simulate'], 'nothing to simulate'],
  [['simulate', folder], 'holds no crawl'],
  [['simulate', 'nowhere'], 'holds no crawl'],
  [['simulate', finished, 'https://a.test/'], 'from one folder or from URLs'],
  [['simulate', finished, '--pages', '5'], '--pages is an assumption'],
  [['simulate', 'https://a.test/', '--whole'], '--whole goes with the folder'],
  [['simulate', 'https://a.test/', '--pages', '0'], '--pages: expected a whole number from 1'],
  [['simulate', 'https://a.test/', '--latency', 'soon'], '--latency: expected a duration'],
  [['simulate', 'https://a.test/', '--size', 'big'], '--size: expected a size'],
  [['simulate', 'https://a.test/', '--workers', '0'], '--workers: expected a whole number from 1 to 1000'],
  [['simulate', 'https://a.test/', '--seed', '1'], '--seed tests the crawler itself, and takes no "https://a.test/"'],
  [['simulate', '--seed', '1', '--whole'], '--seed tests the crawler itself, and --whole plans a crawl'],
  [['simulate', '--seed', '1', '--delay', '5s'], 'takes no options of a crawl, such as delay'],
  [['simulate', '--seed', '1', '--hosts', '5'], '--hosts goes with --fleet or with a plan'],
  [['simulate', '--seed', 'x'], '--seed: expected a whole number'],
  [['simulate', '--fleet', '--seeds', '5'], '--fleet is one run'],
  [['simulate', '--fleet', '--workers', '1,2'], '--workers: expected a whole number'],
])('%j is refused before anything is started', async (words, message) => {
  await expect(runCommand(words)).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining(message) as string,
  })
})
