import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { TiptoeError } from '../model/index.ts'
import {
  concurrentFetches,
  explainSettings,
  quotasOf,
  readConfigFile,
  recrawlOptionsOf,
  resolveSettings,
  scoreOptionsOf,
  type ResolveInput,
} from './index.ts'

const resolve = (input: Omit<ResolveInput, 'version'> = {}) => resolveSettings({ version: '1.2.3', ...input })
const yaml = (text: string) => ({ file: { path: 'crawl.yaml', text } })

function refusal(input: Omit<ResolveInput, 'version'>): TiptoeError {
  try {
    resolve(input)
  } catch (error) {
    if (error instanceof TiptoeError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

describe('defaults', () => {
  test('are those that the user guide promises', () => {
    const { settings, sources } = resolve()
    expect(settings).toMatchObject({
      scope: 'prefix',
      delayMs: 1000,
      perHost: 1,
      concurrency: 20,
      workers: 1,
      sitemaps: true,
      formats: ['jsonl', 'markdown'],
      maxCrawlDelayMs: 60_000,
      crawlDelayOverMax: 'skip',
      connectTimeoutMs: 10_000,
      readTimeoutMs: 30_000,
      timeoutMs: 60_000,
      attempts: 3,
      backoffMultiplier: 2,
      maxBodyBytes: 10_000_000,
      maxRedirects: 10,
      drainMs: 5000,
      failOnPercent: 50,
      userAgent: 'Tiptoe/1.2.3 (+https://tiptoe.example/bot)',
    })
    expect(settings).not.toHaveProperty('maxPages')
    expect(settings).not.toHaveProperty('outDirectory')
    expect(settings).not.toHaveProperty('ignoreRobotsBecause')
    expect(new Set(Object.values(sources))).toEqual(new Set(['default']))
  })

  test('and settings are plain data', () => {
    const { settings } = resolve(yaml('sites: { a.example: { delay: 2s } }'))
    expect(JSON.parse(JSON.stringify(settings))).toEqual(settings)
  })
})

describe('seeds', () => {
  test.each([
    ['https://me:secret@a.example/x', 'https://a.example/x'],
    ['HTTP://me@a.example', 'HTTP://a.example'],
    ['https:\\\\me:secret@a.example/x', 'https:\\\\a.example/x'],
    ['https:me:secret@a.example', 'https:a.example'],
    ['https://me:sec@ret@a.example/@x', 'https://a.example/@x'],
    ['me:1234@a.example', 'a.example'],
    ['me@a.example/x', 'a.example/x'],
    ['https://a.example/@me?q=a@b#c@d', 'https://a.example/@me?q=a@b#c@d'],
    ['https://a.example?q=a@b', 'https://a.example?q=a@b'],
    ['ftp://me:secret@a.example/x', 'ftp://a.example/x'],
    ['mailto:me@a.example', 'mailto:me@a.example'],
  ])('%s lose the credentials in it', (typed, kept) => {
    expect(resolve({ flags: { seeds: [typed] } }).settings.seeds).toEqual([kept])
  })
})

describe('precedence', () => {
  const file = yaml('crawler:\n  rate_limiting:\n    default_delay: 2s\n    max_concurrent_per_host: 3')
  test('a flag beats the environment, which beats the file, which beats a resumed crawl', () => {
    const stored = {
      path: 'out/crawl.yaml',
      text: 'crawler: { rate_limiting: { default_delay: 9s }, user_agent: Old/1 }',
    }
    const environment = { TIPTOE_DELAY: '3s', TIPTOE_ATTEMPTS: '5' }
    expect(resolve({ ...file }).settings.delayMs).toBe(2000)
    expect(resolve({ ...file, environment }).settings.delayMs).toBe(3000)
    const all = resolve({ ...file, stored, environment, flags: { delay: '4s' } })
    expect(all.settings).toMatchObject({ delayMs: 4000, attempts: 5, perHost: 3, userAgent: 'Old/1' })
    expect(all.sources).toMatchObject({
      delay: 'flag --delay',
      attempts: 'env TIPTOE_ATTEMPTS',
      perHost: 'file crawl.yaml:4',
      userAgent: 'file out/crawl.yaml:1',
      scope: 'default',
    })
    expect(explainSettings(all)).toMatch(/^crawler\.rate_limiting\.default_delay +4s +flag --delay$/m)
  })

  test('a list replaces the list below it', () => {
    const listed = yaml('crawler: { scope: { exclude: [a, b] } }')
    expect(resolve({ ...listed, flags: { exclude: ['c'] } }).settings.exclude).toEqual(['c'])
  })

  test('none lifts a limit that a lower layer sets', () => {
    const limited = yaml('crawler: { limits: { max_pages: 5, max_time: 1h } }')
    const { settings } = resolve({ ...limited, flags: { maxPages: 'none' }, environment: { TIPTOE_MAX_TIME: 'none' } })
    expect(settings).not.toHaveProperty('maxPages')
    expect(settings).not.toHaveProperty('maxTimeMs')
  })

  test('an empty variable is unset, and an unknown one is ignored', () => {
    expect(resolve({ environment: { TIPTOE_DELAY: '', TIPTOE_LIFELINE: '3' } })).toEqual(resolve())
  })
})

describe('the configuration file', () => {
  test('of the specification is accepted as it stands (B12)', () => {
    const { settings } = resolve(
      yaml(`
crawler:
  workers:
    count: 1000
    concurrency_per_worker: 10

  rate_limiting:
    default_delay: 1s
    respect_crawl_delay: true
    max_concurrent_per_host: 1

  timeouts:
    connection: 10s
    read: 30s
    total: 60s

  retries:
    max_attempts: 3
    backoff_multiplier: 2

  user_agent: "SearchBot/1.0 (+https://example.com/bot)"

  frontier:
    high_priority_quota: 40%
    medium_priority_quota: 40%
    low_priority_quota: 20%

  deduplication:
    bloom_filter_size: 100000000  # 100M URLs
    false_positive_rate: 0.01
`),
    )
    expect(settings).toMatchObject({
      workers: 1000,
      concurrency: 10,
      userAgent: 'SearchBot/1.0 (+https://example.com/bot)',
    })
    expect(concurrentFetches(settings)).toBe(1000)
  })

  test('keeps the order of sites and tiers', () => {
    const { settings } = resolve(
      yaml(`
seeds: [example.com/docs, "https://a.example/"]
crawler:
  tiers:
    - { match: "news.example.com/**", tier: high }
    - { match: "**", tier: low }
sites:
  "z.example": { delay: 200ms, concurrency: 2 }
  "7": { delay: 1s }
  a.example: { concurrency: 3 }
`),
    )
    expect(settings.seeds).toEqual(['example.com/docs', 'https://a.example/'])
    expect(settings.tiers).toEqual([
      { match: 'news.example.com/**', tier: 'high' },
      { match: '**', tier: 'low' },
    ])
    expect(settings.sites).toEqual([
      { match: 'z.example', delayMs: 200, concurrency: 2 },
      { match: '7', delayMs: 1000 },
      { match: 'a.example', concurrency: 3 },
    ])
  })

  test.each(['', '# nothing yet\n', '---\n', 'crawler:\n', 'crawler: { limits: }', '\uFEFFcrawler: {}'])(
    'that says nothing changes nothing: %j',
    (text) => {
      expect(resolve(yaml(text))).toEqual(resolve())
    },
  )

  test('is told of an unknown key by line, column, path and nearest name', () => {
    const text = 'crawler:\n  rate_limiting:\n    # pace\n    defualt_delay: 1s\n'
    expect(refusal(yaml(text)).message).toBe(
      'crawl.yaml: crawler.rate_limiting.defualt_delay (line 4, column 5): unknown key; did you mean default_delay?',
    )
  })

  test.each([
    ['max_pages: 5', 'max_pages (line 1, column 1): unknown key; did you mean crawler.limits.max_pages?'],
    ['crawler: { limits: { max_pages: many } }', 'expected a whole number of at least 1; found "many"'],
    ['crawler: { limits: { max_pages: 0 } }', 'expected a whole number of at least 1; found 0'],
    ['crawler: { limits: { max_pages: 1.5 } }', 'expected a whole number of at least 1; found 1.5'],
    ['crawler: { rate_limiting: { default_delay: fast } }', 'such as 500ms, 1s or 2m; found "fast"'],
    ['crawler: { rate_limiting: { default_delay: -1 } }', 'found -1'],
    ['crawler: { rate_limiting: { default_delay: } }', 'found nothing'],
    ['crawler: { rate_limiting: { per_ip_delay: 25h } }', 'expected a duration from 0s to 24h'],
    ['crawler: { rate_limiting: { latency_factor: 101 } }', 'expected a number from 0 to 100'],
    ['crawler: { robots: { max_age: 2d } }', 'expected a duration from 1s to 24h'],
    ['crawler: { robots: { max_age: none } }', 'expected a duration from 1s to 24h'],
    ['crawler: { scope: { mode: hosts } }', 'expected one of prefix, host, domain, any; found "hosts"'],
    ['crawler: { scope: { include: [a, 7] } }', 'crawler.scope.include[1] (line 1, column 34)'],
    ['crawler: { scope: { exclude: ["re:("] } }', 'crawler.scope.exclude[0]'],
    ['crawler: { scope: host }', 'expected a mapping with mode, include, exclude; found "host"'],
    ['crawler: { user_agent: 5 }', 'found 5'],
    ['crawler: { user_agent: "1Bot" }', 'found "1Bot"'],
    ['crawler: { user_agent: "Bot\\r\\nX: y" }', 'found "Bot\\r\\nX: y"'],
    ['crawler: { robots: { ignore_because: " " } }', 'expected a reason'],
    ['crawler: { discovery: { sitemaps: maybe } }', 'expected true or false; found "maybe"'],
    ['crawler: { tiers: [{ match: a, teir: high }] }', 'crawler.tiers[0].teir'],
    ['crawler: { tiers: [{ match: a }] }', 'tier is missing'],
    ['crawler: { deduplication: { false_positive_rate: 1 } }', 'a number between 0 and 1; found 1'],
    ['crawler: { frontier: { high_priority_quota: 50% } }', 'must make 100% together; found 50% + 40% + 20%'],
    ['crawler: { frontier: { score: { age: 1.5 } } }', 'expected a number from 0 to 1; found 1.5'],
    [
      'crawler: { frontier: { score: { low_score: 0.7 } } }',
      'low_score must not be above high_score; found 0.7 and 0.6',
    ],
    ['crawler: { frontier: { score: { importance: 0, change: 0, age: 0, depth: 0 } } }', 'must be above 0'],
    ['crawler: { deduplication: { strip_parameters: ["a=b"] } }', 'strip_parameters[0]'],
    ['crawler: { traps: maybe }', 'expected a mapping with enabled; found "maybe"'],
    ['recrawl: { enabled: sometimes }', 'recrawl.enabled (line 1, column 12): expected true or false'],
    ['recrawl: { high: 10ms }', 'expected a duration from 1s to 365d'],
    ['recrawl: { hihg: 1h }', 'recrawl.hihg (line 1, column 12): unknown key; did you mean high?'],
    ['recrawl: { shortest: 2h, longest: 1h }', 'recrawl: shortest must not be longer than longest'],
    ['recrawl: { host_share: 0% }', 'expected a percentage from 1% to 100%'],
    ['crawler: { network: { resolve: ["example.com:443:nowhere"] } }', 'found "example.com:443:nowhere"'],
    ['crawler: { network: { allow_addresses: [10.0.0.0/33] } }', 'found "10.0.0.0/33"'],
    ['output: { formats: [jsonl, mhtml] }', 'mhtml is not available yet'],
    ['output: { formats: [pdf] }', '"pdf" is no format'],
    ['output: { formats: [] }', 'expected at least one of jsonl, markdown'],
    ['output: { fail_on: 101% }', 'found "101%"'],
    [
      'sites: { "docs.example.com": { delya: 1s } }',
      'sites."docs.example.com".delya (line 1, column 32): unknown key; did you mean delay?',
    ],
    ['sites: [a]', 'expected a mapping from hosts or URL patterns'],
    ['- a', 'crawl.yaml: expected a mapping with seeds'],
    ['just text', 'found "just text"'],
    ['crawler: { limits: {', 'line 1'],
    ['a: 1\n\tb: 2', 'line 2'],
    ['seeds: [a]\nseeds: [b]', 'crawl.yaml (line 2, column 1): Map keys must be unique'],
    ['--- {}\n--- {}', 'multiple documents'],
    ['seeds: !mine [a]', 'mine'],
  ])('is refused: %j', (text, expected) => {
    const error = refusal(yaml(text))
    expect(error.code).toBe('usage')
    expect(error.message).toContain(expected)
  })

  test('is told of all its problems at once, together with those of variables and flags', () => {
    const error = refusal({
      ...yaml('crawler:\n  limts: 1\n  limits:\n    max_pages: -1\n    max_depth: x\n'),
      environment: { TIPTOE_TIMEOUT: 'soon' },
      flags: { scope: 'all' },
    })
    expect(error.message.split('\n')).toEqual([
      '5 problems in the configuration',
      '  crawl.yaml: crawler.limts (line 2, column 3): unknown key; did you mean limits?',
      expect.stringMatching(/^ {2}--scope: expected one of/),
      '  crawl.yaml: crawler.limits.max_pages (line 4, column 5): expected a whole number of at least 1; found -1',
      expect.stringMatching(/^ {2}crawl\.yaml: crawler\.limits\.max_depth/),
      expect.stringMatching(/^ {2}TIPTOE_TIMEOUT: expected a duration/),
    ])
  })

  test('takes quotas with fractions that make 100 % together', () => {
    const quotas = 'high_priority_quota: 33.3%, medium_priority_quota: 33.3%, low_priority_quota: 33.4%'
    expect(resolve(yaml(`crawler: { frontier: { ${quotas} } }`)).settings).toMatchObject({
      highPriorityQuotaPercent: 33.3,
      mediumPriorityQuotaPercent: 33.3,
      lowPriorityQuotaPercent: 33.4,
    })
  })

  test('turns a section on or off as a whole, or says more of it', () => {
    expect(resolve(yaml('recrawl: true\ncrawler: { traps: false }')).settings).toMatchObject({
      recrawl: true,
      traps: false,
    })
    expect(resolve(yaml('recrawl:\n  enabled: true\n  high: 10m\n  host_share: 0.25')).settings).toMatchObject({
      recrawl: true,
      recrawlHighMs: 600_000,
      recrawlHostSharePercent: 25,
    })
    expect(resolve(yaml('recrawl: { high: 10m }')).settings.recrawl).toBe(false)
    expect(resolve(yaml('recrawl: true')).sources.recrawl).toBe('file crawl.yaml:1')
    expect(resolve({ ...yaml('recrawl: true'), flags: { recrawl: false } }).settings.recrawl).toBe(false)
  })

  test('may use aliases, but not to multiply', () => {
    expect(resolve(yaml('sites: { a: &slow { delay: 9s }, b: *slow }')).settings.sites).toHaveLength(2)
    const ten = (item: string): string => Array.from({ length: 10 }, () => item).join(', ')
    const bomb = Array.from({ length: 12 }, (_, i) => `k${i}: &k${i} [${ten(i === 0 ? 'x' : `*k${i - 1}`)}]`)
    expect(refusal(yaml(bomb.join('\n'))).message).toContain('alias')
    expect(refusal(yaml('seeds: *nowhere')).code).toBe('usage')
  })

  test('nested without end is refused, not fatal', () => {
    expect(refusal(yaml(`seeds: ${'['.repeat(20_000)}`)).code).toBe('usage')
  })
})

describe('what settings mean to the frontier', () => {
  const HOUR_MS = 3_600_000
  const DAY_MS = 24 * HOUR_MS

  test('quotas are shares', () => {
    expect(quotasOf(resolve().settings)).toEqual({ high: 0.4, medium: 0.4, low: 0.2 })
  })

  test('the weights of a score make one, whatever was written', () => {
    const standard = { importance: 0.4, change: 0.3, age: 0.2, depth: 0.1 }
    const { weights, ageMs, tiers } = scoreOptionsOf(resolve().settings)
    for (const [name, weight] of Object.entries(standard)) {
      expect(weights[name as keyof typeof weights]).toBeCloseTo(weight, 12)
    }
    expect({ ageMs, tiers }).toEqual({ ageMs: 7 * DAY_MS, tiers: { high: 0.6, low: 0.3 } })
    const halves = yaml('crawler: { frontier: { score: { importance: 0, change: 0, age: 1, depth: 1 } } }')
    expect(scoreOptionsOf(resolve(halves).settings).weights).toEqual({ importance: 0, change: 0, age: 0.5, depth: 0.5 })
  })

  test('pages come back hourly, daily and weekly by tier, up to 24 times as often or as seldom', () => {
    expect(recrawlOptionsOf(resolve().settings, 'once')).toEqual({
      mode: 'once',
      intervals: {
        high: { averageMs: HOUR_MS, leastMs: HOUR_MS / 24, mostMs: DAY_MS },
        medium: { averageMs: DAY_MS, leastMs: HOUR_MS, mostMs: 24 * DAY_MS },
        low: { averageMs: 7 * DAY_MS, leastMs: 7 * HOUR_MS, mostMs: 168 * DAY_MS },
      },
      hostShare: 0.5,
    })
  })

  test('and no sooner than in a minute, unless they should', () => {
    const high = (text: string) => recrawlOptionsOf(resolve(yaml(text)).settings, 'on').intervals.high
    expect(high('recrawl: { high: 10m }')).toEqual({ averageMs: 600_000, leastMs: 60_000, mostMs: 14_400_000 })
    expect(high('recrawl: { high: 5s }')).toEqual({ averageMs: 5_000, leastMs: 5_000, mostMs: 120_000 })
    expect(high('recrawl: { shortest: 10s }')).toMatchObject({ averageMs: HOUR_MS, leastMs: 10_000 })
  })

  test('bounds that are given hold for every tier, and move an average that lies beyond them', () => {
    const { high, medium, low } = recrawlOptionsOf(
      resolve(yaml('recrawl: { shortest: 6h, longest: 2d }')).settings,
      'on',
    ).intervals
    const bounds = { leastMs: 6 * HOUR_MS, mostMs: 2 * DAY_MS }
    expect([high, medium, low]).toEqual([
      { averageMs: 6 * HOUR_MS, ...bounds },
      { averageMs: DAY_MS, ...bounds },
      { averageMs: 2 * DAY_MS, ...bounds },
    ])
    const soon = recrawlOptionsOf(resolve(yaml('recrawl: { longest: 1h }')).settings, 'on').intervals.low
    expect(soon).toEqual({ averageMs: HOUR_MS, leastMs: HOUR_MS, mostMs: HOUR_MS })
    const late = recrawlOptionsOf(resolve(yaml('recrawl: { shortest: 60d }')).settings, 'on').intervals.high
    expect(late).toEqual({ averageMs: 60 * DAY_MS, leastMs: 60 * DAY_MS, mostMs: 60 * DAY_MS })
  })
})

describe('reading the file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tiptoe-config-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  test('gives its text', () => {
    const path = join(folder, 'good.yaml')
    writeFileSync(path, 'seeds: [a]')
    expect(readConfigFile(path)).toEqual({ path, text: 'seeds: [a]' })
  })

  test('names the path when it is missing, a folder, or no text', () => {
    const binary = join(folder, 'binary.yaml')
    writeFileSync(binary, Buffer.from([0xff, 0xfe, 0x00]))
    expect(() => readConfigFile(join(folder, 'no.yaml'))).toThrow(/no\.yaml cannot be read: there is no such file/)
    expect(() => readConfigFile(folder)).toThrow(/it is a folder/)
    expect(() => readConfigFile(binary)).toThrow(/binary\.yaml is not UTF-8 text/)
  })
})
