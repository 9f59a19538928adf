/**
 * A response with a body becomes a page record, its Markdown and the URLs it names. A page that says what it said the last
 * time is only told to be the same; what it names is handed over all the same. What its bytes mean is for the reader.
 */
import type { FetchResponse } from '../../fetch/index.ts'
import { foundByLink } from '../../frontier/index.ts'
import {
  RECORD_SCHEMA,
  type ContentSignals,
  type FoundUrl,
  type PageRecord,
  type Task,
  type Whole,
} from '../../model/index.ts'
import type { PageInput, PageReading } from '../../reading/index.ts'
import { contentPath } from '../../sink/index.ts'
import type { TaskContext, TaskResult } from './context.ts'
import { interpret, tellingHeaders } from './interpretation.ts'
import { validatorsOf } from './revisit-conditions.ts'
import type { Repetition } from './repetition.ts'
import { isRevisit, sameAgain, visitOf } from './revisit.ts'
import { timestamp } from './timestamp.ts'

export async function readPage(
  task: Task,
  response: FetchResponse,
  signals: ContentSignals | undefined,
  context: TaskContext,
): Promise<TaskResult> {
  const interpreted = await interpret(inputOf(task, response, context), task, context)
  if (interpreted.reading === undefined) return interpreted.result
  const { reading } = interpreted
  const visit = visitOf(task, reading.contentHash, validatorsOf(response))
  const judged = context.repetitions.judge(task.url, reading)
  const repetition = judged instanceof Promise ? await judged : judged
  const named = follow(task, reading, repetition, context)
  if (visit.change === 'unchanged' && isRevisit(task)) {
    return { ...sameAgain(task, visit, response, context), ...named }
  }
  const record = recordOf(task, response, reading, repetition, signals, context)
  // A body that is archived is let go by the archive.
  if (record.htmlPath === undefined && response.wire === undefined) response.release?.()
  const output = { kind: 'page', record, markdown: reading.markdown ?? null } as const
  const result: Whole<PageResult> = {
    outcome: { kind: 'done' },
    found: named.found,
    links: named.links,
    numbering: named.numbering,
    visit,
    sample: reading.sample,
    bytes: record.bytes,
    tokens: record.tokens,
    record: record.htmlPath === undefined ? output : { ...output, html: response.body },
  }
  return result as TaskResult
}

type PageResult = Pick<
  TaskResult,
  'outcome' | 'found' | 'links' | 'numbering' | 'visit' | 'sample' | 'bytes' | 'tokens' | 'record'
>

function inputOf(task: Task, response: FetchResponse, context: TaskContext): PageInput {
  const { settings, productToken, wantsSample } = context
  return {
    kind: 'page',
    url: task.url,
    body: response.body,
    headers: tellingHeaders(response),
    productToken,
    followNofollow: settings.followNofollow,
    wants: {
      content: settings.content,
      markdown: settings.formats.includes('markdown'),
      sample: wantsSample(task),
      outlinks: settings.recordLinks,
    },
  }
}

function recordOf(
  task: Task,
  response: FetchResponse,
  reading: PageReading,
  { duplicateOf, duplicateBy }: Repetition,
  contentSignals: ContentSignals | undefined,
  { settings }: TaskContext,
): PageRecord {
  const limits = [...response.limits, ...reading.limits]
  const hasHtml = reading.isHtml && settings.formats.includes('html')
  const record: Whole<PageRecord> = {
    schema: RECORD_SCHEMA,
    url: task.url,
    change: isRevisit(task) ? 'changed' : 'new',
    visit: (task.last?.visits ?? 0) + 1,
    status: response.status,
    depth: task.depth,
    referrer: task.referrer ?? null,
    via: task.via,
    tier: task.tier,
    fetchedAt: timestamp(response.startedAt),
    answerMs: Math.round(response.answeredAt - response.startedAt),
    durationMs: Math.round(response.endedAt - response.startedAt),
    bytes: response.body.length,
    truncated: limits.length === 0 ? undefined : true,
    limits: limits.length === 0 ? undefined : limits,
    contentType: response.headers.get('content-type'),
    sniffedType: reading.sniffedType,
    charset: reading.charset,
    title: reading.title,
    description: reading.description,
    lang: reading.lang,
    canonical: reading.canonical,
    published: reading.published,
    modified: reading.modified,
    headings: reading.headings,
    robots: reading.robots,
    contentSignals,
    tdm: reading.tdm,
    contentHash: reading.contentHash,
    simhash: reading.simhash,
    duplicateOf,
    duplicateBy,
    tokens: reading.tokens,
    links: reading.linkCount,
    outlinks: reading.outlinks,
    markdownPath: reading.markdown === undefined ? undefined : `content/${contentPath(task.url, 'md')}`,
    htmlPath: hasHtml ? `content/${contentPath(task.url, 'html')}` : undefined,
    etag: response.headers.get('etag') ?? undefined,
    lastModified: response.headers.get('last-modified') ?? undefined,
    attempts: task.attempts + 1,
    render: 'http',
  }
  return record as PageRecord
}

/**
 * The URLs that belong to the crawl: links, unless the page repeats another one and that is to be spared, the page that it
 * names as canonical in any case, and feeds, which name further pages as a sitemap does.
 */
function follow(
  task: Task,
  reading: PageReading,
  { duplicateBy }: Repetition,
  { settings, admission }: TaskContext,
): Pick<TaskResult, 'found' | 'links' | 'numbering'> {
  const isSpared = duplicateBy !== undefined && settings.skipDuplicates
  const found: FoundUrl[] = []
  if (duplicateBy === 'canonical' && reading.canonical !== null) {
    const original = admission.one(reading.canonical)
    if (original !== undefined) {
      const { url, tier } = original
      const named = { url, kind: 'page', depth: task.depth, via: 'canonical', referrer: task.url } as const
      found.push(tier === undefined ? named : { ...named, tier })
    }
  }
  if (isSpared) return { found, links: [] }
  const { links, numbering, tiered } = admission.all(reading.links, reading.numbering)
  for (const { url, tier } of tiered) found.push({ ...foundByLink(url, task), tier })
  if (settings.sitemaps) {
    const feeds = new Set(reading.feeds.map((feed) => admission.one(feed)?.url))
    for (const url of feeds) {
      if (url !== undefined) found.push({ url, kind: 'sitemap', depth: 0, via: 'link', referrer: task.url })
    }
  }
  return numbering === undefined ? { found, links } : { found, links, numbering }
}
