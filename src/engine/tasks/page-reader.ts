/**
 * A response with a body becomes a page record, its Markdown and the URLs it names. A page that says what it said the last
 * time is only told to be the same; what it names is handed over all the same. What its bytes mean is for the reader.
 */
import type { FetchResponse } from '../../fetch/index.ts'
import { foundByLink } from '../../frontier/index.ts'
import { RECORD_SCHEMA, type FoundUrl, type NormalizedUrl, type PageRecord, type Task } from '../../model/index.ts'
import type { PageInput, PageReading } from '../../reading/index.ts'
import { contentPath } from '../../sink/index.ts'
import type { Admitted } from './admission.ts'
import type { TaskContext, TaskResult } from './context.ts'
import { interpret, tellingHeaders } from './interpretation.ts'
import { validatorsOf } from './revisit-conditions.ts'
import type { Repetition } from './repetition.ts'
import { isRevisit, sameAgain, visitOf } from './revisit.ts'
import { timestamp } from './timestamp.ts'

export async function readPage(task: Task, response: FetchResponse, context: TaskContext): Promise<TaskResult> {
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
  const record = recordOf(task, response, reading, repetition, context)
  // A body that is archived is let go by the archive.
  if (record.htmlPath === undefined && response.wire === undefined) response.release?.()
  return {
    outcome: { kind: 'done' },
    ...named,
    visit,
    ...(reading.sample === undefined ? {} : { sample: reading.sample }),
    bytes: record.bytes,
    tokens: record.tokens,
    record: {
      kind: 'page',
      record,
      markdown: reading.markdown ?? null,
      ...(record.htmlPath === undefined ? {} : { html: response.body }),
    },
  }
}

function inputOf(task: Task, response: FetchResponse, { settings, productToken }: TaskContext): PageInput {
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
      // Traps are learned from what pages say when they are read for the first time.
      sample: settings.traps && !isRevisit(task),
      outlinks: settings.recordLinks,
    },
  }
}

function recordOf(
  task: Task,
  response: FetchResponse,
  reading: PageReading,
  repetition: Repetition,
  { settings, contentSignals }: TaskContext,
): PageRecord {
  const { published, modified, tdm, sniffedType, outlinks } = reading
  const limits = [...response.limits, ...reading.limits]
  const etag = response.headers.get('etag')
  const lastModified = response.headers.get('last-modified')
  return {
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
    ...(limits.length === 0 ? {} : { truncated: true, limits }),
    contentType: response.headers.get('content-type'),
    ...(sniffedType === undefined ? {} : { sniffedType }),
    charset: reading.charset,
    title: reading.title,
    description: reading.description,
    lang: reading.lang,
    canonical: reading.canonical,
    ...(published === undefined ? {} : { published }),
    ...(modified === undefined ? {} : { modified }),
    headings: reading.headings,
    robots: reading.robots,
    ...(contentSignals === undefined ? {} : { contentSignals }),
    ...(tdm === undefined ? {} : { tdm }),
    contentHash: reading.contentHash,
    simhash: reading.simhash,
    ...repetition,
    tokens: reading.tokens,
    links: reading.linkCount,
    ...(outlinks === undefined ? {} : { outlinks }),
    ...(reading.markdown === undefined ? {} : { markdownPath: `content/${contentPath(task.url, 'md')}` }),
    ...(reading.isHtml && settings.formats.includes('html')
      ? { htmlPath: `content/${contentPath(task.url, 'html')}` }
      : {}),
    ...(etag === null ? {} : { etag }),
    ...(lastModified === null ? {} : { lastModified }),
    attempts: task.attempts + 1,
    render: 'http',
  }
}

/**
 * The URLs that belong to the crawl: links, unless the page repeats another one and that is to be spared, the page that it
 * names as canonical in any case, and feeds, which name further pages as a sitemap does.
 */
function follow(
  task: Task,
  reading: PageReading,
  { duplicateBy }: Repetition,
  context: TaskContext,
): Required<Pick<TaskResult, 'found' | 'links'>> {
  const { settings } = context
  const isSpared = duplicateBy !== undefined && settings.skipDuplicates
  const found: FoundUrl[] = []
  const links: NormalizedUrl[] = []
  const take = (urls: readonly NormalizedUrl[], kind: FoundUrl['kind'], depth: number, via: FoundUrl['via']): void => {
    for (const { url, tier } of admitted(urls, context)) {
      const named = { url, kind, depth, via, referrer: task.url }
      found.push(tier === undefined || kind !== 'page' ? named : { ...named, tier })
    }
  }
  if (duplicateBy === 'canonical' && reading.canonical !== null) {
    take([reading.canonical], 'page', task.depth, 'canonical')
  }
  if (isSpared) return { found, links }
  for (const { url, tier } of admitted(reading.links, context)) {
    // Most links have no tier of their own: then their text is all there is to say.
    if (tier === undefined) links.push(url)
    else found.push({ ...foundByLink(url, task), tier })
  }
  if (settings.sitemaps) take(reading.feeds, 'sitemap', 0, 'link')
  return { found, links }
}

/** Those of distinct URLs that belong to the crawl, as it has them: what differs only in what is stripped is one. */
function admitted(urls: readonly NormalizedUrl[], { admit }: TaskContext): Admitted[] {
  const all: Admitted[] = []
  let isAnyStripped = false
  for (const url of urls) {
    const answer = admit(url)
    if (answer === undefined) continue
    isAnyStripped ||= answer.url !== url
    all.push(answer)
  }
  return isAnyStripped ? [...new Map(all.map((each) => [each.url, each])).values()] : all
}
