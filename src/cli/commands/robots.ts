/**
 * `tiptoe robots URL…`: fetches the robots.txt of each URL's origin and says what it allows, with the line that
 * decides. Exit 0 when every URL is allowed, 1 when one is not.
 */
import { productTokenOf, readSeed } from '../../engine/index.ts'
import { createSystemClock, formatDuration } from '../../base/index.ts'
import type { NormalizedUrl, RobotsRecord } from '../../model/index.ts'
import { TiptoeError } from '../../model/index.ts'
import { parseRobots } from '../../robots/index.ts'
import { EXIT } from '../exit-code.ts'
import type { Invocation } from '../invocation.ts'
import { typedSettings } from '../typed-settings.ts'
import { reportRows, timestamp, type ReportRow } from '../report-lines.ts'
import { escapeForTerminal } from '../terminal.ts'
import { createVisitor, type Visitor } from '../visit.ts'

/** Sitemaps named in words; JSON has all of them. */
const SITEMAPS_SHOWN = 10

export async function robotsCommand(invocation: Invocation): Promise<number> {
  const { parsed, terminal } = invocation
  const settings = typedSettings(invocation)
  const productToken = agentOf(parsed.switches.agent) ?? productTokenOf(settings.userAgent)
  const urls = parsed.operands.map(readSeed)
  const visitor = createVisitor({ settings, productToken, seeds: urls, clock: createSystemClock() })
  try {
    const answers: Answer[] = []
    for (const url of urls) answers.push(await answerFor(url, visitor, productToken))
    terminal.result(answers, () => answers.map(answerWords).join('\n\n'))
    return answers.every(({ allowed }) => allowed) ? EXIT.done : EXIT.failures
  } finally {
    await visitor.close()
  }
}

/** What a robots.txt is looked up by: a product token, or a whole user agent that begins with one. */
function agentOf(text: string | undefined): string | undefined {
  if (text === undefined || /^[A-Za-z_-]/.test(text)) return text
  throw new TiptoeError('usage', `--agent ${JSON.stringify(text)} is no product token`, {
    hint: 'letters, underscores and hyphens, as in User-agent lines: --agent MyBot',
  })
}

interface Answer {
  readonly url: string
  readonly agent: string
  readonly origin: string
  readonly asked: readonly string[]
  readonly status: number | null
  /** What the answer means for the origin (RFC 9309 §2.3.1). */
  readonly state: RobotsRecord['state']
  readonly detail: string
  readonly fetchedAt: string
  /** Names what the file says: the same text has the same version. */
  readonly version: string
  readonly allowed: boolean
  readonly verdict: string
  readonly line: number | null
  readonly rule: string | null
  readonly crawlDelayMs: number | null
  readonly sitemaps: readonly string[]
}

async function answerFor(url: NormalizedUrl, visitor: Visitor, agent: string): Promise<Answer> {
  const { record, asked } = await visitor.robots(url)
  const verdict = await visitor.verdict(url)
  const rules = parseRobots(record.body)
  const { line, rule } = record.state === 'rules' ? rules.check(agent, url) : { line: null, rule: null }
  return {
    url,
    agent,
    origin: record.origin,
    asked,
    status: record.status,
    state: record.state,
    detail: record.detail,
    fetchedAt: timestamp(record.fetchedAt),
    version: record.version,
    allowed: verdict.allowed,
    verdict: verdict.detail,
    line,
    rule,
    crawlDelayMs: rules.crawlDelayMs(agent) ?? null,
    sitemaps: rules.sitemaps,
  }
}

const MEANING: Readonly<Record<RobotsRecord['state'], string>> = {
  rules: 'the rules in it apply',
  'allow-all': 'everything is allowed (RFC 9309 §2.3.1.3)',
  'disallow-all': 'nothing may be asked (RFC 9309 §2.3.1.4)',
}

function answerWords(answer: Answer): string {
  const sitemaps = answer.sitemaps.slice(0, SITEMAPS_SHOWN)
  const more = answer.sitemaps.length - sitemaps.length
  const rows: ReportRow[] = [
    ['robots.txt', answer.asked.length === 0 ? 'not asked for' : answer.asked.join('\nmoved to ')],
    [
      'answer',
      `${answer.detail}; ${answer.state === 'disallow-all' && answer.status === 200 ? 'we do not ask at all' : MEANING[answer.state]}`,
    ],
    ['version', `${answer.version}, read ${answer.fetchedAt}`],
    ['verdict', `${answer.allowed ? 'allowed' : 'not allowed'} for ${answer.agent}: ${answer.verdict}`],
    ['crawl-delay', answer.crawlDelayMs === null ? 'none' : formatDuration(answer.crawlDelayMs)],
    ['sitemaps', sitemaps.length === 0 ? 'none' : [...sitemaps, ...(more > 0 ? [`and ${more} more`] : [])].join('\n')],
  ]
  const escaped = rows.map(([name, value]): ReportRow => [name, value.split('\n').map(escapeForTerminal).join('\n')])
  return [escapeForTerminal(answer.url), ...reportRows(escaped)].join('\n')
}
