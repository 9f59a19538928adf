/**
 * A response with a body becomes a page record, its Markdown and the URLs it names. A page that says what it said the last
 * time is only told to be the same; what it names is handed over all the same.
 */
import { contentHash, contentSample, countTokens, readContent, simhash, type Content } from '../content/index.ts'
import type { FetchResponse } from '../fetch/index.ts'
import { RECORD_SCHEMA, type FoundUrl, type PageRecord, type Task } from '../model/index.ts'
import { decodeBody, extract, parseDirectives, type Extracted, type Link } from '../parse/index.ts'
import { contentPath } from '../sink/index.ts'
import type { TaskContext, TaskResult } from './context.ts'
import { validatorsOf } from './revisit-conditions.ts'
import { isRevisit, sameAgain, visitOf } from './revisit.ts'
import { timestamp } from './timestamp.ts'

/** What the bytes of a page say, by their media type. */
interface Reading {
  readonly charset: string | null
  readonly about: Pick<Extracted, 'title' | 'description' | 'lang' | 'canonical' | 'robots' | 'links'>
  readonly content: Content | undefined
}

export function readPage(task: Task, response: FetchResponse, context: TaskContext): TaskResult {
  const { settings } = context
  const contentType = response.headers.get('content-type')
  const { charset, about, content } = readBody(task, response, contentType, context)
  const hash = content?.contentHash ?? contentHash(response.body)
  const visit = visitOf(task, hash, validatorsOf(response))
  const found = follow(task, about, context)
  if (visit.change === 'unchanged' && isRevisit(task)) {
    return { ...sameAgain(task, visit, response, context), found }
  }
  const markdown = settings.formats.includes('markdown') ? content?.markdown || undefined : undefined
  const etag = response.headers.get('etag')
  const lastModified = response.headers.get('last-modified')
  const record: PageRecord = {
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
    ...(response.truncated ? { truncated: true } : {}),
    contentType,
    charset,
    title: about.title,
    description: about.description,
    lang: about.lang,
    canonical: about.canonical,
    robots: about.robots,
    contentHash: hash,
    simhash: content?.simhash == null ? null : content.simhash.toString(16).padStart(16, '0'),
    tokens: content?.tokens ?? 0,
    links: about.links.length,
    ...(settings.recordLinks ? { outlinks: about.links.map((link) => link.url) } : {}),
    ...(markdown === undefined ? {} : { markdownPath: `content/${contentPath(task.url, 'md')}` }),
    ...(etag === null ? {} : { etag }),
    ...(lastModified === null ? {} : { lastModified }),
    attempts: task.attempts + 1,
    render: 'http',
  }
  return {
    outcome: { kind: 'done' },
    found,
    visit,
    ...sampleOf(task, content, about.title, context),
    bytes: record.bytes,
    tokens: record.tokens,
    record: { kind: 'page', record, markdown: markdown ?? null },
  }
}

function readBody(task: Task, response: FetchResponse, contentType: string | null, context: TaskContext): Reading {
  const xRobotsTag = response.headers.all('x-robots-tag')
  const { productToken } = context
  const type = mediaType(contentType, response.body)
  if (type === 'html') {
    const about = extract(response.body, { url: task.url, contentType, xRobotsTag, productToken })
    return { charset: about.charset, about, content: readContent(about.text, { url: task.url, title: about.title }) }
  }
  const robots = parseDirectives([], xRobotsTag, productToken)
  const about = { title: null, description: null, lang: null, canonical: null, robots, links: [] }
  if (type === 'other') return { charset: null, about, content: undefined }
  const { text, charset } = decodeBody(response.body, contentType)
  const content: Content = {
    markdown: text,
    text,
    tokens: countTokens(text),
    contentHash: contentHash(text),
    simhash: text.trim() === '' ? null : simhash(text),
  }
  return { charset, about, content }
}

/** Traps are learned from what pages say when they are read for the first time; one without text says nothing. */
function sampleOf(
  task: Task,
  content: Content | undefined,
  title: string | null,
  { settings }: TaskContext,
): Pick<TaskResult, 'sample'> {
  if (!settings.traps || isRevisit(task) || content === undefined || content.text.trim() === '') return {}
  return { sample: contentSample(content.text, task.url, title ?? '') }
}

/** `text` is kept as it is: plain text and Markdown read well without conversion. */
function mediaType(contentType: string | null, body: Uint8Array): 'html' | 'text' | 'other' {
  const essence = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (essence === 'text/html' || essence === 'application/xhtml+xml') return 'html'
  if (essence === 'text/plain' || essence === 'text/markdown') return 'text'
  // A server that does not say, and a body that begins like markup.
  if (essence === '' && /^(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|head|body|!--|\?xml)/i.test(beginning(body)))
    return 'html'
  return 'other'
}

function beginning(body: Uint8Array): string {
  return Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, 512)).toString('latin1')
}

/** The links that belong to the crawl, with what the page and each link ask of us respected. */
function follow(task: Task, about: Reading['about'], context: TaskContext): FoundUrl[] {
  const { settings, scope } = context
  if (!about.robots.follow && !settings.followNofollow) return []
  const isWanted = (link: Link): boolean => settings.followNofollow || !link.nofollow
  // Links that differ only in what is stripped are one.
  const urls = new Set(about.links.filter(isWanted).map((link) => context.strip(link.url)))
  return [...urls]
    .filter((url) => scope.check(url).inScope)
    .map((url) => {
      const tier = context.tierOf(url)
      const found = { url, kind: 'page', depth: task.depth + 1, via: 'link', referrer: task.url } as const
      return tier === undefined ? found : { ...found, tier }
    })
}
