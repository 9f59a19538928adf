/**
 * What is said of a page that was fetched again is true: by what its host sent, the page has changed, is the same, or is
 * gone. Where two requests for one page crossed, nobody knows which of them was settled, and nothing is judged.
 */
import type { Settlement } from '../frontier/index.ts'
import type { Change } from '../model/index.ts'
import { Violation } from './violation.ts'
import type { Reaction, WebObserver } from './web.ts'

export interface ChangeChecker extends WebObserver {
  /** A settlement was accepted. */
  committed(settlement: Settlement): void
}

interface Heard {
  readonly reaction: Reaction | undefined
  readonly isOnly: boolean
}

type Answer = Extract<Reaction, { kind: 'answer' }>

export function createChangeChecker(): ChangeChecker {
  const heard = new Map<string, Heard>()
  /** What was saved of each page, or found to be the same. */
  const had = new Map<string, Answer>()

  const truth = (before: Answer | undefined, now: Reaction | undefined): readonly Change[] => {
    if (now?.kind !== 'answer') return ['missed']
    if (now.status === 304) return ['unchanged']
    if (now.status === 404 || now.status === 410) return ['gone']
    if (now.status !== 200) return ['missed', 'gone']
    if (before === undefined) return ['changed', 'unchanged']
    if (now.edition !== before.edition) return ['changed']
    // Links alone may not be what a page says.
    return now.body === before.body ? ['unchanged'] : ['changed', 'unchanged']
  }

  return {
    heard({ url, kind }, reaction) {
      if (kind === 'page') heard.set(url, { reaction, isOnly: !heard.has(url) })
    },
    ended({ url, brokeOff }) {
      const last = heard.get(url)
      if (brokeOff && last !== undefined) heard.set(url, { ...last, reaction: undefined })
    },
    committed({ task, outcome, visit, answeredAt }) {
      const last = heard.get(task.url)
      if (task.kind !== 'page' || answeredAt === undefined || last === undefined) return
      heard.delete(task.url)
      const before = had.get(task.url)
      const isRead = last.reaction?.kind === 'answer' && last.reaction.status === 200
      if (outcome.kind === 'done' && last.reaction?.kind === 'answer' && (isRead || last.reaction.status === 304)) {
        had.set(task.url, isRead || before === undefined ? last.reaction : { ...before, ...editionOf(last.reaction) })
      }
      if (outcome.kind !== 'done' || task.last === undefined || visit === undefined || !last.isOnly) {
        if (!last.isOnly) had.delete(task.url)
        return
      }
      const expected = truth(before, last.reaction)
      if (!expected.includes(visit.change))
        throw new Violation('change', task.url, `told to be ${visit.change}, and it is ${expected.join(' or ')}`)
    },
  }
}

const editionOf = ({ edition }: Answer): { edition?: number } => (edition === undefined ? {} : { edition })
