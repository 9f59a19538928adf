/**
 * What the demo tells: its hosts before, and afterwards what the logs of the servers show. Pure functions of the
 * story and the log; nothing is claimed here that the log does not prove.
 */
import type { DemoWeb, LogEntry } from './demo/index.ts'
import { padToWidth, paint } from './terminal.ts'

const HOST_COLUMNS = 18

export function storyLines(web: Pick<DemoWeb, 'story'>, columns: number, color: boolean): string[] {
  const margin = ' '.repeat(HOST_COLUMNS + 3)
  const lines = web.story.flatMap(({ host, what }) =>
    wrapWords(what, columns - 1 - margin.length).map((line, index) =>
      index === 0 ? `  ${padToWidth(host, HOST_COLUMNS)} ${line}` : `${margin}${line}`,
    ),
  )
  return [
    paint(color, 'strong', 'A web of a dozen hosts, served on this machine; nothing leaves it.'),
    ...lines,
    '',
    'Crawling all of them at once, each at its own pace; half a minute, please.',
    '',
  ]
}

export interface Visits {
  readonly host: string
  readonly requests: number
  /** Smallest time from an answer to the next request; null with fewer than two requests. */
  readonly smallestGapMs: number | null
  /** From the first request to the last answer. */
  readonly busyMs: number
  readonly statuses: Readonly<Record<string, number>>
}

export function visitsOf(log: readonly LogEntry[], host: string): Visits {
  let smallest = Infinity
  let lastAnswer = -Infinity
  let first: number | undefined
  const statuses: Record<string, number> = {}
  const entries = log.filter((entry) => entry.host === host)
  for (const { arrivedAt, answeredAt, status } of entries) {
    smallest = Math.min(smallest, arrivedAt - lastAnswer)
    lastAnswer = Math.max(lastAnswer, answeredAt ?? arrivedAt)
    first ??= arrivedAt
    const name = status === null ? 'broken' : String(status)
    statuses[name] = (statuses[name] ?? 0) + 1
  }
  return {
    host,
    requests: entries.length,
    smallestGapMs: Number.isFinite(smallest) ? smallest : null,
    busyMs: first === undefined ? 0 : lastAnswer - first,
    statuses,
  }
}

/** Cut, never rounded up: a gap just short of a second must not look like one. */
const seconds = (ms: number): string => (Math.floor(ms) / 1000).toFixed(3)

export function visitWords(visits: readonly Visits[]): string {
  const row = (host: string, asked: string, gap: string, busy: string, answers: string): string =>
    `  ${padToWidth(host, HOST_COLUMNS)} ${asked.padStart(5)} ${gap.padStart(12)} ${busy.padStart(6)}  ${answers}`
  const rows = visits.map(({ host, requests, smallestGapMs, busyMs, statuses }) => {
    const answers = Object.entries(statuses).map(([status, count]) => `${count}×${status}`)
    const gap = smallestGapMs === null ? '-' : `${seconds(smallestGapMs)} s`
    return row(host, String(requests), gap, `${(busyMs / 1000).toFixed(1)} s`, answers.join(' '))
  })
  return [row('host', 'asked', 'smallest gap', 'busy', 'answers'), ...rows].join('\n')
}

const asked = (log: readonly LogEntry[], host: string, path: string): number =>
  log.filter((entry) => entry.host === host && entry.path.startsWith(path)).length

/** What was promised above and did not come true, by the servers' logs; nothing, unless there is a bug. */
export function brokenPromises(log: readonly LogEntry[], visits: readonly Visits[]): string[] {
  const broken: string[] = []
  for (const { host, requests, smallestGapMs } of visits) {
    const delayMs = host === 'patient.demo.test' ? 2_000 : 1_000
    if (requests === 0) broken.push(`${host} was never asked`)
    if (smallestGapMs !== null && smallestGapMs < delayMs) {
      broken.push(`${host} was asked ${seconds(smallestGapMs)} s after its answer, within its delay`)
    }
  }
  for (const path of ['/private/diary', '/private/safe']) {
    if (asked(log, 'private.demo.test', path) > 0) broken.push(`private.demo.test was asked for ${path}`)
  }
  if (asked(log, 'closed.demo.test', '/') > asked(log, 'closed.demo.test', '/robots.txt')) {
    broken.push('closed.demo.test was asked for more than its robots.txt')
  }
  return broken
}

export function noticeLines(
  log: readonly LogEntry[],
  visits: readonly Visits[],
  columns: number,
  color: boolean,
): string[] {
  const of = (name: string): Visits | undefined => visits.find(({ host }) => host.startsWith(`${name}.`))
  const busy = (name: string): string => `${((of(name)?.busyMs ?? 0) / 1000).toFixed(1)} s`
  const gap = (name: string): string => `${seconds(of(name)?.smallestGapMs ?? 0)} s`
  const sum = visits.reduce((total, { busyMs }) => total + busyMs, 0)
  const began = Math.min(...log.map(({ arrivedAt }) => arrivedAt))
  const ended = Math.max(...log.map(({ answeredAt, arrivedAt }) => answeredAt ?? arrivedAt))
  const notices = [
    `No host was asked within 1 s of its last answer; patient.demo.test, which asks for 2 s, never within ${gap('patient')}.`,
    `The slow host took ${busy('slow')}, the fast one ${busy('fast')}: neither held up the other. ` +
      `One after another, these visits would have taken ${Math.round(sum / 1000)} s, not ${Math.round((ended - began) / 1000)} s.`,
    'robots.txt was obeyed: neither forbidden page of private.demo.test was asked for, and nothing at all behind the ' +
      'broken robots.txt of closed.demo.test.',
    'Nothing was lost: each page, failure and skip has a record with its reason.',
  ]
  const lines = notices.flatMap((notice) =>
    wrapWords(notice, columns - 5).map((line, index) => `${index === 0 ? '  - ' : '    '}${line}`),
  )
  return ['', paint(color, 'strong', 'What to notice'), ...lines, '']
}

function wrapWords(text: string, columns: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
