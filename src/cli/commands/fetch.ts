/**
 * `tiptoe fetch URL`: one page as the crawler sees it. robots.txt is asked for first and obeyed; redirects are followed
 * one by one, each with its own verdict and at its host's pace. Exit 0 when a page was had, 1 when not.
 */
import { productTokenOf, readSeed } from '../../engine/index.ts'
import { createSystemClock, formatBytes, formatDuration, type Clock } from '../../base/index.ts'
import type { FetchOutcome, FetchResponse } from '../../fetch/index.ts'
import { SKIP_REASONS, type NormalizedUrl, type Page, type PageRecord, type SkipRecord } from '../../model/index.ts'
import { extract, spelledOut } from '../../parse/index.ts'
import { countOf, formatCount } from '../count-words.ts'
import { EXIT } from '../exit-code.ts'
import type { Invocation } from '../invocation.ts'
import { typedSettings } from '../typed-settings.ts'
import { reportRows, type ReportRow } from '../report-lines.ts'
import { escapeForTerminal } from '../terminal.ts'
import { createVisitor, type PageVisit, type Visitor } from '../visit.ts'

/** Links listed in words; JSON has all of them. */
const LINKS_SHOWN = 100

/** The fields of an answer that say something about the page or its server, in the order in which they are shown. */
const FIELDS = [
  'content-type',
  'content-length',
  'content-encoding',
  'content-language',
  'content-location',
  'location',
  'retry-after',
  'last-modified',
  'etag',
  'cache-control',
  'age',
  'expires',
  'vary',
  'link',
  'x-robots-tag',
  'server',
  'via',
  'date',
  'strict-transport-security',
  'set-cookie',
] as const

export async function fetchCommand(invocation: Invocation): Promise<number> {
  const { parsed, terminal } = invocation
  const settings = typedSettings(invocation)
  const url = readSeed(parsed.operands[0] as string)
  if (settings.ignoreRobotsBecause !== undefined) {
    terminal.warn(`robots.txt is ignored: ${settings.ignoreRobotsBecause}`)
  }
  const clock = createSystemClock()
  const productToken = productTokenOf(settings.userAgent)
  const visitor = createVisitor({ settings: { ...settings, recordLinks: false }, productToken, seeds: [url], clock })
  try {
    const hops: Hop[] = []
    for (let next: NormalizedUrl | undefined = url; next !== undefined;) {
      const hop = await visitHop(next, hops.length, visitor, productToken, clock)
      hops.push(hop)
      next = hop.next
    }
    terminal.result({ url, hops: hops.map(({ next: _next, ...hop }) => hop) }, () => hops.map(hopWords).join('\n\n'))
    return hops.at(-1)?.page === undefined ? EXIT.failures : EXIT.done
  } finally {
    await visitor.close()
  }
}

interface Hop {
  readonly url: string
  readonly robots: { readonly allowed: boolean; readonly detail: string; readonly crawlDelayMs: number }
  readonly scope: { readonly inScope: boolean; readonly rule: string }
  readonly response?: ReturnType<typeof responseOf>
  /** What became of it, in words, when it is no page. */
  readonly ending?: string
  readonly page?: Page
  readonly links?: readonly { url: string; rel: readonly string[]; nofollow: boolean; inScope: boolean; rule: string }[]
  readonly next?: NormalizedUrl
}

async function visitHop(
  url: NormalizedUrl,
  redirects: number,
  visitor: Visitor,
  productToken: string,
  clock: Clock,
): Promise<Hop> {
  const { record } = await visitor.robots(url)
  const { allowed, detail } = await visitor.verdict(url)
  const visit = await visitor.page(url, redirects)
  const { outcome, result } = visit
  const response = outcome?.kind === 'response' ? outcome : undefined
  const output = result.record
  const page = output?.kind === 'page' ? { ...output.record, markdown: output.markdown } : undefined
  const target = output?.kind === 'skip' ? redirectOf(output.record) : undefined
  return {
    url,
    robots: { allowed, detail, crawlDelayMs: record.crawlDelayMs },
    scope: visitor.scope.check(url),
    ...(response === undefined ? {} : { response: responseOf(response) }),
    ...(page === undefined ? { ending: endingOf(visit, clock) } : { page }),
    ...(page === undefined || response === undefined
      ? {}
      : { links: linksOf(url, page.links, response, visitor, productToken) }),
    ...(target === undefined ? {} : { next: target }),
  }
}

/** A redirect out of scope is followed too, since this is no crawl; its scope is told with it. */
function redirectOf({ reason, location }: SkipRecord): NormalizedUrl | undefined {
  return reason === 'redirect' || reason === 'redirect-scope' ? (location as NormalizedUrl | undefined) : undefined
}

function endingOf({ outcome, result }: PageVisit, clock: Clock): string {
  const { record, host } = result
  if (host?.blockedUntil !== undefined && outcome?.kind === 'response') {
    const wait = formatDuration(host.blockedUntil - clock.now())
    return `${host.blockedReason}: the host asks to be left alone; a crawl would wait ${wait}`
  }
  if (record?.kind === 'skip') {
    const { reason, detail, location } = record.record
    const where = location === undefined ? '' : ` to ${location}`
    return `${reason}: ${detail ?? SKIP_REASONS[reason]}${where}`
  }
  if (record?.kind === 'fail') return `${record.record.error}: ${record.record.detail}`
  return outcome?.kind ?? 'not asked for'
}

function responseOf(response: Extract<FetchOutcome, { kind: 'response' }>) {
  const { status, headers, startedAt, answeredAt, endedAt, address, protocol, body, wireBytes, truncated } = response
  return {
    status,
    protocol,
    address,
    answerMs: Math.round(answeredAt - startedAt),
    durationMs: Math.round(endedAt - startedAt),
    wireBytes,
    bytes: body.length,
    truncated,
    headers: Object.fromEntries(
      FIELDS.flatMap((name) => {
        const value = headers.get(name)
        return value === null ? [] : [[name, value]]
      }),
    ),
  }
}

function linksOf(
  url: NormalizedUrl,
  count: number,
  response: FetchResponse,
  { scope }: Visitor,
  productToken: string,
): NonNullable<Hop['links']> {
  if (count === 0) return []
  const { links } = extract(response.body, { url, contentType: response.headers.get('content-type'), productToken })
  return spelledOut(links).map(({ url, rel, nofollow }) => ({ url, rel, nofollow, ...scope.check(url) }))
}

function hopWords(hop: Hop): string {
  const { response, page, links } = hop
  const delay = hop.robots.crawlDelayMs === 0 ? '' : `; Crawl-delay ${formatDuration(hop.robots.crawlDelayMs)}`
  const rows: ReportRow[] = [
    ['robots.txt', `${hop.robots.allowed ? 'allowed' : 'not allowed'}: ${hop.robots.detail}${delay}`],
    ['scope', `${hop.scope.inScope ? 'in' : 'out'}: ${hop.scope.rule}`],
  ]
  if (response !== undefined) {
    const size =
      response.wireBytes === response.bytes
        ? formatBytes(response.bytes)
        : `${formatBytes(response.wireBytes)}, decoded ${formatBytes(response.bytes)}`
    rows.push(
      ['status', `${response.status} over ${response.protocol} from ${response.address}`],
      ['time', `first byte ${formatDuration(response.answerMs)}, all ${formatDuration(response.durationMs)}`],
      ['size', `${size}${response.truncated ? ', cut at the limit' : ''}`],
      [
        'headers',
        Object.entries(response.headers)
          .map(([name, value]) => `${name}: ${value}`)
          .join('\n'),
      ],
    )
  }
  if (hop.ending !== undefined) rows.push([hop.next === undefined ? 'no page' : 'leads on', hop.ending])
  if (page !== undefined) {
    rows.push(
      ['charset', page.charset ?? 'none'],
      ['title', page.title ?? 'none'],
      ['description', page.description ?? 'none'],
      ['lang', page.lang ?? 'none'],
      ['canonical', page.canonical ?? 'none'],
      ['directives', `${page.robots.index ? 'index' : 'noindex'}, ${page.robots.follow ? 'follow' : 'nofollow'}`],
      ...permissionRows(page),
      ...(page.published === undefined ? [] : [['published', page.published] as const]),
      ...(page.modified === undefined ? [] : [['modified', page.modified] as const]),
      ...(page.sniffedType === undefined ? [] : [['read as', page.sniffedType] as const]),
      ...(page.limits === undefined ? [] : [['cut by', page.limits.join(', ')] as const]),
      ['headings', formatCount(page.headings.length)],
      ['tokens', formatCount(page.tokens)],
      ['links', linkWords(links ?? [])],
    )
  }
  const escaped = rows.map(([name, value]): ReportRow => [name, value.split('\n').map(escapeForTerminal).join('\n')])
  const markdown = page?.markdown == null ? [] : ['', page.markdown.trimEnd()]
  return [escapeForTerminal(hop.url), ...reportRows(escaped), ...markdown].join('\n')
}

/** What the host and the page say of the use of what they say. */
function permissionRows({ contentSignals, tdm }: PageRecord): ReportRow[] {
  const uses = Object.entries(contentSignals ?? {}).map(([use, isPermitted]) => `${use} ${isPermitted ? 'yes' : 'no'}`)
  const mining =
    tdm?.reserved === true ? `reserved${tdm.policy === undefined ? '' : `, terms at ${tdm.policy}`}` : 'not reserved'
  return [
    ...(uses.length === 0 ? [] : [['uses', uses.join(', ')] as const]),
    ...(tdm === undefined ? [] : [['mining', mining] as const]),
  ]
}

function linkWords(links: NonNullable<Hop['links']>): string {
  const followed = links.filter(({ inScope, nofollow }) => inScope && !nofollow).length
  const shown = links.slice(0, LINKS_SHOWN).map(({ url, inScope, nofollow }) => {
    return `${inScope ? 'in ' : 'out'} ${url}${nofollow ? ' (nofollow)' : ''}`
  })
  const more = links.length > shown.length ? [`and ${formatCount(links.length - shown.length)} more`] : []
  return [
    `${countOf(links.length, 'link')}, ${formatCount(followed)} in scope and to be followed`,
    ...shown,
    ...more,
  ].join('\n')
}
