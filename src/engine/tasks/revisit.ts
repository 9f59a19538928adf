/**
 * What became of something that was fetched before, told against the last time: the same, gone, or nothing learned. A page
 * that has changed is for page-reader.ts.
 *
 * What was had of a page stands until there is something newer: only a host that says so makes it go away.
 */
import type { FetchResponse } from '../../fetch/index.ts'
import { RECORD_SCHEMA, type LastVisit, type RevisitRecord, type Task, type Visit } from '../../model/index.ts'
import { isGivenUp } from '../../politeness/index.ts'
import type { TaskContext, TaskResult } from './context.ts'
import { validatorsOf, type Validators } from './revisit-conditions.ts'
import { timestamp } from './timestamp.ts'

/** Answers in a row that the page is not there; then it is gone for good. A 410 says so itself. */
const GONE_AFTER = 3
/** A host that was given up is asked again by visits after this, once. No pause lasts for longer than a day. */
const ANOTHER_CHANCE_MS = 2 * 86_400_000

export interface RevisitTask extends Task {
  readonly last: LastVisit
}

export function isRevisit(task: Task): task is RevisitTask {
  return task.last !== undefined
}

/** What the next visit should know of an answer with this content; null for an answer that has none. */
export function visitOf({ last }: Pick<Task, 'last'>, hash: string | null, validators: Validators): Visit {
  const change = last === undefined ? 'new' : last.hash === hash ? 'unchanged' : 'changed'
  return { change, hash, ...validators }
}

/** A 304: nothing was sent, and nothing is read. Validators that it does not name stay. */
export function notModified(task: RevisitTask, response: FetchResponse, context: TaskContext): TaskResult {
  const { etag, lastModified } = validatorsOf(response)
  const { hash, etag: oldTag, lastModified: oldDate } = task.last
  const visit: Visit = { change: 'unchanged', hash, etag: etag ?? oldTag, lastModified: lastModified ?? oldDate }
  return settled(task, visit, answerOf(response), context)
}

/** The page came, and says what it said the last time. */
export function sameAgain(task: RevisitTask, visit: Visit, response: FetchResponse, context: TaskContext): TaskResult {
  const bytes = response.body.length
  return { ...settled(task, visit, { ...answerOf(response), bytes }, context), bytes }
}

/** A 404 or 410: perhaps for now, perhaps for good. */
export function gone(task: RevisitTask, response: FetchResponse, context: TaskContext): TaskResult {
  const isForGood = response.status === 410 || task.last.misses + 1 >= GONE_AFTER
  const told: Told = {
    ...answerOf(response),
    detail: `HTTP ${response.status}`,
    ...(isForGood ? { retired: true } : {}),
  }
  const result = settled(task, { ...kept(task.last), change: 'gone' }, told, context)
  return isForGood ? { ...result, outcome: { kind: 'skipped', reason: 'gone' } } : result
}

/** Nothing could be learned, in words: what was had still stands, and the page comes back later. */
export function missed(
  task: RevisitTask,
  told: Pick<RevisitRecord, 'detail' | 'status'>,
  context: Pick<TaskContext, 'clock'>,
): TaskResult {
  return settled(task, { ...kept(task.last), change: 'missed' }, told, context)
}

/**
 * Whether the task's host is not to be asked, for it refused or failed everything for too long. Where pages are visited
 * again and again, one of them finds out now and then whether it is back.
 */
export function isHopeless(task: Task, { lease, clock, settings }: TaskContext): boolean {
  const now = clock.now()
  if (!isGivenUp(lease.health, now, settings.patienceMs)) return false
  return !isRevisit(task) || now - lease.health.blockedAt < ANOTHER_CHANCE_MS
}

type Told = Omit<RevisitRecord, 'schema' | 'url' | 'change' | 'visit' | 'depth' | 'tier' | 'checkedAt'>

/** Only pages have records. */
function settled(task: RevisitTask, visit: Visit, told: Told, context: Pick<TaskContext, 'clock'>): TaskResult {
  const result = { outcome: { kind: 'done' }, visit } as const
  if (task.kind !== 'page') return result
  const record: RevisitRecord = {
    schema: RECORD_SCHEMA,
    url: task.url,
    change: visit.change as RevisitRecord['change'],
    visit: task.last.visits + 1,
    ...told,
    depth: task.depth,
    tier: task.tier,
    checkedAt: timestamp(context.clock.now()),
  }
  return { ...result, record: { kind: 'revisit', record } }
}

function answerOf({ status, startedAt, answeredAt, endedAt }: FetchResponse): Told {
  return {
    status,
    fetchedAt: timestamp(startedAt),
    answerMs: Math.round(answeredAt - startedAt),
    durationMs: Math.round(endedAt - startedAt),
  }
}

function kept({ hash, etag, lastModified }: LastVisit): Omit<Visit, 'change'> {
  return { hash, etag, lastModified }
}
