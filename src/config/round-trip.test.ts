import { limitsReferencePage } from './limits-reference.ts'
import { outputReferencePage } from './output-reference.ts'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { stringify } from 'yaml'
import { describe, expect, test } from 'vitest'
import {
  configSchema,
  fleetDifference,
  leaseTimeInForce,
  OPTIONS,
  parseArguments,
  partitionsInForce,
  referencePage,
  resolveSettings,
  settingsDifference,
  settingsFromLibrary,
  toCrawlYaml,
  toFleetYaml,
  withoutPassword,
  type CrawlerOptions,
  type OriginHeader,
  type Settings,
} from './index.ts'

const VERSION = '1.2.3'
const HOUR_MS = 3_600_000

const word = fc.stringMatching(/^[!-~]{1,30}$/)
const phrase = fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme' }).filter((text) => text.trim() !== '')
const pattern = fc.stringMatching(/^[a-z0-9][a-z0-9./*?-]{0,20}$/)
const patterns = fc.array(pattern, { maxLength: 4 })
const durationMs = fc.oneof(
  fc.integer({ min: 1, max: HOUR_MS }),
  fc.integer({ min: 1, max: 3600 }).map((s) => s * 1000),
)
const bytes = fc.oneof(
  fc.integer({ min: 1, max: 2 ** 40 }),
  fc.integer({ min: 1, max: 5000 }).map((n) => n * 1_000_000),
)
const percent = fc.integer({ min: 0, max: 1000 }).map((tenths) => tenths / 10)
const fraction = fc.integer({ min: 1, max: 1000 }).map((thousandths) => thousandths / 1000)
const intervalMs = fc.oneof(
  fc.integer({ min: 1000, max: HOUR_MS }),
  fc.integer({ min: 1, max: 365 }).map((days) => days * 24 * HOUR_MS),
)
const host = fc.domain()
const address = fc.oneof(
  fc.ipV4(),
  fc.ipV6().map((ip) => ip.toLowerCase()),
)

/** Any value that each setting may have. */
const VALUES: { [K in keyof Settings]-?: fc.Arbitrary<NonNullable<Settings[K]>> } = {
  seeds: fc.array(
    fc.oneof(
      fc.webUrl(),
      word.filter((text) => !text.includes('@')),
    ),
    { maxLength: 4 },
  ),
  inputFile: phrase,
  outDirectory: phrase,
  scope: fc.constantFrom('prefix', 'host', 'domain', 'any'),
  include: patterns,
  exclude: patterns,
  sitemaps: fc.boolean(),
  followNofollow: fc.boolean(),
  maxPages: fc.integer({ min: 1 }),
  maxDepth: fc.nat(),
  maxTimeMs: durationMs,
  maxBytes: bytes,
  maxBodyBytes: bytes,
  maxRedirects: fc.integer({ min: 0, max: 100 }),
  delayMs: durationMs,
  respectCrawlDelay: fc.boolean(),
  maxCrawlDelayMs: durationMs,
  crawlDelayOverMax: fc.constantFrom('skip', 'clamp'),
  perHost: fc.integer({ min: 1, max: 100 }),
  perIpDelayMs: durationMs,
  perDomainDelayMs: durationMs,
  latencyFactor: fc.integer({ min: 0, max: 1000 }).map((tenths) => tenths / 10),
  latencyMaxDelayMs: durationMs,
  patienceMs: durationMs,
  robotsMaxAgeMs: fc.integer({ min: 1000, max: 24 * HOUR_MS }),
  concurrency: fc.integer({ min: 1, max: 1000 }),
  workers: fc.integer({ min: 1, max: 1_000_000 }),
  threads: fc.integer({ min: 0, max: 64 }),
  userAgent: fc.stringMatching(/^[A-Za-z_-]{1,9}(\/[ -~]{0,30})?$/),
  cookies: fc.boolean(),
  headers: fc.uniqueArray(
    fc.record({
      origin: fc.webUrl().map((url) => new URL(url).origin),
      name: fc.stringMatching(/^x-[a-z0-9]{1,9}$/),
      value: fc.stringMatching(/^([A-Za-z]{1,9}[ =])?\$([A-Z_]{1,9}|\{[A-Z_]{1,9}\})$/),
    }),
    { maxLength: 3, selector: ({ origin, name }) => `${origin} ${name}` },
  ),
  ignoreRobotsBecause: phrase,
  connectTimeoutMs: durationMs,
  readTimeoutMs: durationMs,
  timeoutMs: durationMs,
  attempts: fc.integer({ min: 1, max: 20 }),
  retryDelayMs: durationMs,
  minRateBytes: fc.nat(),
  backoffMultiplier: fc.integer({ min: 10, max: 100 }).map((tenths) => tenths / 10),
  resolve: fc.array(fc.record({ host, port: fc.integer({ min: 1, max: 65_535 }), address }), { maxLength: 3 }),
  allowAddresses: fc.array(
    fc.oneof(
      address,
      fc.ipV4().map((ip) => `${ip}/8`),
    ),
    { maxLength: 3 },
  ),
  formats: fc.constantFrom(['jsonl'], ['html'], ['markdown', 'jsonl'], ['warc', 'jsonl']),
  recordLinks: fc.boolean(),
  content: fc.boolean(),
  archiveBytes: fc.integer({ min: 1024 ** 2, max: 2 ** 40 }),
  failOnPercent: percent,
  drainMs: durationMs,
  // One quota cannot change alone.
  highPriorityQuotaPercent: fc.constant(40),
  mediumPriorityQuotaPercent: fc.constant(40),
  lowPriorityQuotaPercent: fc.constant(20),
  tiers: fc.array(fc.record({ match: pattern, tier: fc.constantFrom('high', 'medium', 'low') }), { maxLength: 3 }),
  maxPagesPerHost: fc.integer({ min: 1 }),
  maxRate: fc.integer({ min: 1, max: 1_000_000 }),
  sink: fc.constantFrom('files', 'redis-stream'),
  store: fc.constantFrom(
    'redis://127.0.0.1',
    'rediss://user@redis.example:6380/2',
    'redis-cluster://a:7000,[::1]:7001',
  ),
  crawlName: fc.stringMatching(/^[A-Za-z0-9._-]{1,64}$/),
  partitions: fc.integer({ min: 1, max: 1_024 }),
  leaseTimeMs: fc.integer({ min: 5_000, max: HOUR_MS }),
  storeCaFile: phrase,
  workerId: fc.stringMatching(/^[A-Za-z0-9._-]{1,64}$/),
  healthAddress: fc.constantFrom('127.0.0.1:9090', '[::1]:1', '0.0.0.0:65535', 'localhost:0'),
  scoreImportance: fraction,
  scoreChange: fraction,
  scoreAge: fraction,
  scoreDepth: fraction,
  scoreAgeHorizonMs: fc.integer({ min: 24 * HOUR_MS, max: 365 * 24 * HOUR_MS }),
  highScore: fc.integer({ min: 30, max: 100 }).map((hundredths) => hundredths / 100),
  lowScore: fc.integer({ min: 0, max: 30 }).map((hundredths) => hundredths / 100),
  traps: fc.boolean(),
  stripParameters: fc.array(fc.stringMatching(/^[a-z_*]{1,9}$/), { maxLength: 4 }),
  skipDuplicates: fc.boolean(),
  nearDuplicates: fc.integer({ min: 0, max: 100_000_000 }),
  recrawl: fc.boolean(),
  recrawlHighMs: intervalMs,
  recrawlMediumMs: intervalMs,
  recrawlLowMs: intervalMs,
  recrawlShortestMs: fc.integer({ min: 1000, max: HOUR_MS }),
  recrawlLongestMs: fc.integer({ min: HOUR_MS, max: 1000 * HOUR_MS }),
  recrawlHostSharePercent: fc.integer({ min: 10, max: 1000 }).map((tenths) => tenths / 10),
  bloomFilterSize: fc.integer({ min: 1 }),
  falsePositiveRate: fc.double({ min: 1e-6, max: 0.999, noNaN: true }),
  sites: fc.uniqueArray(
    fc.record(
      { match: pattern, delayMs: durationMs, concurrency: fc.integer({ min: 1, max: 100 }) },
      { requiredKeys: ['match'] },
    ),
    { maxLength: 3, selector: ({ match }) => match },
  ),
}

const DEFAULTS = resolveSettings({ version: VERSION }).settings

/** Settings with some options changed at random. */
const anySettings = fc.record(VALUES, { requiredKeys: [] }).map((changes): Settings => ({ ...DEFAULTS, ...changes }))

test.each(OPTIONS.map((option) => [option.name, option] as const))(
  '%s means the same in the file, in a variable, as a flag and in a program',
  (name, option) => {
    fc.assert(
      fc.property(VALUES[option.setting] as fc.Arbitrary<unknown>, (value) => {
        const expected = { ...DEFAULTS, [option.setting]: value }
        const written = option.kind.write(value)

        const content = option.path.split('.').reduceRight((inner, key) => new Map([[key, inner]]), written)
        const file = { path: 'c.yaml', text: stringify(content, { lineWidth: 0 }) }
        expect(resolveSettings({ version: VERSION, file }).settings).toEqual(expected)

        const variable = `TIPTOE_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`
        const text =
          option.variable === 'yaml'
            ? stringify(written, { lineWidth: 0 })
            : Array.isArray(written)
              ? written.join(name === 'format' ? ',' : ' ')
              : String(written)
        if (text !== '') {
          expect(resolveSettings({ version: VERSION, environment: { [variable]: text } }).settings).toEqual(expected)
        }

        if (option.flag !== undefined) {
          const { flags } = parseArguments(flagWords(option.flag === true ? kebab(name) : option.flag, written))
          expect(resolveSettings({ version: VERSION, flags }).settings).toEqual(expected)
        }

        const plain = written instanceof Map ? Object.fromEntries(written) : written
        const fromLibrary = settingsFromLibrary({ [name]: plain }, VERSION)
        // An object of a program lists keys that look like numbers first; nobody has such a site.
        if (!(written instanceof Map && [...written.keys()].some((key) => /^\d+$/.test(String(key))))) {
          expect(fromLibrary).toEqual(expected)
        }
      }),
      { numRuns: 30 },
    )
  },
)

const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

function flagWords(flag: string, written: unknown): string[] {
  if (typeof written === 'boolean') return [written ? `--${flag}` : `--no-${flag}`]
  return (Array.isArray(written) ? written : [written]).map((value) => `--${flag}=${flagText(value)}`)
}

function flagText(written: unknown): string {
  if (typeof written !== 'object' || written === null) return String(written)
  const { origin, name, value } = written as OriginHeader
  return `${origin} ${name}: ${value}`
}

describe('crawl.yaml', () => {
  test('reads back to the same settings', () => {
    fc.assert(
      fc.property(anySettings, (settings) => {
        const stored = { path: 'crawl.yaml', text: toCrawlYaml(settings) }
        expect(resolveSettings({ version: 'another', stored }).settings).toEqual(settings)
        expect(settingsDifference(settings, resolveSettings({ version: 'another', stored }).settings)).toEqual([])
      }),
      { numRuns: 200 },
    )
  })

  test('a default that was unset stays unset', () => {
    const { patienceMs: _, ...settings } = DEFAULTS
    const stored = { path: 'crawl.yaml', text: toCrawlYaml(settings) }
    expect(stored.text).toMatch(/^ {4}patience: none$/m)
    expect(resolveSettings({ version: VERSION, stored }).settings).toEqual(settings)
    for (const flags of [{ patience: 'none' }, { patience: '1h' }]) {
      const expected = flags.patience === 'none' ? settings : { ...settings, patienceMs: HOUR_MS }
      expect(resolveSettings({ version: VERSION, stored, flags }).settings).toEqual(expected)
    }
  })

  test('is written for people', () => {
    const { settings } = resolveSettings({
      version: VERSION,
      flags: { seeds: ['https://a.example/'], maxBytes: '2GB' },
    })
    const text = toCrawlYaml(settings)
    expect(text).toMatch(/^seeds:\n {2}- https:\/\/a\.example\/$/m)
    expect(text).toMatch(/^ {4}default_delay: 1s$/m)
    expect(text).toMatch(/^ {4}max_body_size: 10MB$/m)
    expect(text).toMatch(/^ {4}max_bytes: 2GB$/m)
    expect(text).toMatch(/^ {4}high_priority_quota: 40%$/m)
  })
})

describe('a resumed crawl', () => {
  const settings = (flags: Record<string, unknown>) => resolveSettings({ version: VERSION, flags }).settings

  test('differs by what decides its pages, and by nothing else', () => {
    const before = settings({ seeds: ['a', 'b'], exclude: ['x'], maxPages: '5' })
    expect(
      settingsDifference(before, settings({ seeds: ['b', 'a'], exclude: ['x'], maxPages: '9', delay: '2s' })),
    ).toEqual([])
    expect(settingsDifference(before, settings({ seeds: ['a', 'b'], scope: 'host', maxDepth: '2' }))).toEqual([
      { option: 'scope', label: '--scope', before: '"prefix"', after: '"host"' },
      { option: 'exclude', label: '--exclude', before: '["x"]', after: '[]' },
      { option: 'maxDepth', label: '--max-depth', before: 'none', after: '2' },
    ])
    expect(settingsDifference(before, { ...before, stripParameters: ['tracking'] })).toEqual([
      { option: 'stripParameters', label: '--strip-parameters', before: '[]', after: '["tracking"]' },
    ])
  })

  test('may be kept fresh, or in another way, with other scores and without traps', () => {
    const before = settings({ seeds: ['a'] })
    const after = settings({
      seeds: ['a'],
      recrawl: true,
      recrawlHigh: '10m',
      recrawlShortest: '1m',
      scoreAge: '1',
      traps: false,
      maxPagesPerHost: '5',
    })
    expect(settingsDifference(before, after)).toEqual([])
  })
})

describe('a crawl that several processes work on', () => {
  const settings = (flags: Record<string, unknown>) => resolveSettings({ version: VERSION, flags }).settings

  test('has one scope, one politeness and one set of limits, and what belongs to each process for itself', () => {
    const kept = settings({ seeds: ['a'], delay: '1s', maxPages: '5' })
    const own = { seeds: ['b'], out: 'w1', concurrency: '250', workerId: 'w1', health: '0.0.0.0:1', store: 'redis://x' }
    expect(fleetDifference(kept, settings({ ...own, maxPages: '5', timeout: '9s' }))).toEqual([])
    expect(fleetDifference(kept, settings({ ...own, delay: '2s', exclude: ['x'] })).map(({ label }) => label)).toEqual([
      '--exclude',
      '--max-pages',
      '--delay',
    ])
    const [sites] = fleetDifference(kept, { ...kept, sites: [{ match: 'a.example', delayMs: 5 }] })
    expect(sites).toMatchObject({ option: 'sites', before: '""', after: '"a.example: {\\"delay\\":\\"5ms\\"}"' })
  })

  test('is kept without what belongs to one process, and reads back to the rest', () => {
    fc.assert(
      fc.property(anySettings, (any) => {
        const stored = { path: 'the store', text: toFleetYaml(any) }
        const read = resolveSettings({ version: VERSION, stored }).settings
        expect(fleetDifference(any, read)).toEqual([])
        expect(read.seeds).toEqual([])
        expect([read.store, read.outDirectory, read.workerId, read.healthAddress]).toEqual(Array(4).fill(undefined))
      }),
      { numRuns: 100 },
    )
  })

  test('never has its password written or repeated', () => {
    const store = 'rediss://user:pass%20word@h.example:1/2'
    expect(toCrawlYaml(settings({ store }))).toContain('url: rediss://user@h.example:1/2')
    expect(settings({ store }).store).toBe(store)
    expect(withoutPassword('redis://:pass@h')).toBe('redis://h')
    expect(() => settings({ store: 'http://user:hunter2@h' })).toThrow(/--store: expected redis:.*not shown/)
    expect(() => settings({ store: 'http://user:hunter2@h' })).not.toThrow(/hunter2/)
  })

  test('is in one part where hosts are paced together, and has leases that carry the longest request', () => {
    expect(partitionsInForce(settings({ partitions: '64' }))).toBe(64)
    expect(partitionsInForce(settings({ partitions: '64', perDomainDelay: '1s' }))).toBe(1)
    expect(leaseTimeInForce(settings({}))).toBe(30_000)
    expect(leaseTimeInForce(settings({ timeout: '5m' }))).toBe(150_000)
  })

  test.each(['127.0.0.1', '127.0.0.1:70000', 'example.com:80', ':80', '[::1:80'])('does not listen at %s', (health) => {
    expect(() => settings({ health })).toThrow('--health: expected ADDRESS:PORT')
  })
})

test('what has parts of its own is YAML in a variable, and said to be wrong by its name', () => {
  const of = (environment: Record<string, string>) => resolveSettings({ version: VERSION, environment }).settings
  expect(of({ TIPTOE_SITES: '{ a.example: { delay: 5s } }' }).sites).toEqual([{ match: 'a.example', delayMs: 5_000 }])
  expect(of({ TIPTOE_TIERS: '[{ match: /news, tier: high }]' }).tiers).toEqual([{ match: '/news', tier: 'high' }])
  expect(of({ TIPTOE_SEEDS: 'a.example b.example' }).seeds).toEqual(['a.example', 'b.example'])
  expect(() => of({ TIPTOE_SITES: '{ a.example' })).toThrow('TIPTOE_SITES: expected a mapping')
  expect(() => of({ TIPTOE_HEADERS: 'nonsense' })).toThrow('TIPTOE_HEADERS')
})

describe('the library', () => {
  test('takes numbers as milliseconds and bytes', () => {
    expect(settingsFromLibrary({ delay: 200, maxBodySize: 1000, sites: { a: { delay: 50 } } }, VERSION)).toMatchObject({
      delayMs: 200,
      maxBodyBytes: 1000,
      sites: [{ match: 'a', delayMs: 50 }],
    })
    expect(settingsFromLibrary({ delay: '0.2s', scope: 'host', maxPages: 100 }, VERSION)).toMatchObject({
      delayMs: 200,
      scope: 'host',
      maxPages: 100,
    })
  })

  test('names the option that is wrong', () => {
    expect(() => settingsFromLibrary({ maxpages: 1 } as CrawlerOptions, VERSION)).toThrow('unknown option maxpages')
    expect(() => settingsFromLibrary({ maxPages: 0 }, VERSION)).toThrow(
      'maxPages: expected a whole number of at least 1',
    )
    expect(() => settingsFromLibrary({ exclude: ['a', ''] }, VERSION)).toThrow('exclude[1]: expected a pattern')
  })
})

describe('generated files', () => {
  const read = (name: string) => readFileSync(new URL(`../../docs/reference/${name}`, import.meta.url), 'utf8')

  test('are those that the table makes: run node src/config/generate.ts', () => {
    expect(read('options.md')).toBe(referencePage())
    expect(read('limits.md')).toBe(limitsReferencePage())
    expect(read('output.md')).toBe(outputReferencePage())
    expect(JSON.parse(read('tiptoe.schema.json'))).toEqual(configSchema())
  })

  test('show a configuration file that is right', () => {
    const text = /```yaml\n([^]*?)```/.exec(referencePage())?.[1] ?? ''
    const { settings } = resolveSettings({ version: VERSION, file: { path: 'example.yaml', text } })
    expect(settings).toMatchObject({ maxPages: 500, sites: [{ match: 'docs.example.com', delayMs: 200 }] })
  })

  test('have a unique path, flag and name for each option', () => {
    for (const key of ['name', 'setting', 'path', 'help'] as const) {
      expect(new Set(OPTIONS.map((option) => option[key])).size).toBe(OPTIONS.length)
    }
  })
})
