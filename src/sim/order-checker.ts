/**
 * The best first: no page is handed out while one that is worth more waits in the same part of its origin's queue. What
 * each is worth is worked out here from what the frontier was told, by the formula that people are told; all that pages
 * of one host have in common is left out.
 *
 * Pages that were put off, and those fetched before, are not judged: what they are worth is not for this book to know.
 */
import type { ScoreOptions } from '../frontier/index.ts'
import type { Task } from '../model/index.ts'
import { queueOf, type Page, type PageBook } from './page-book.ts'
import { Violation } from './violation.ts'

/** So many referrers make half of the importance that a page can have by them. */
const HALF_REFERRERS = 8
/** Places in a queue are whole numbers of a hundred-thousandth of a point, and two of them are rounded. */
const ROUNDING = 3e-5

export interface OrderChecker {
  granted(task: Task, isOut: (url: string) => boolean): void
}

export function createOrderChecker(score: ScoreOptions, book: PageBook): OrderChecker {
  const { weights, ageMs } = score
  const worth = ({ depth, foundAt }: Page, referrers: number): number =>
    (weights.importance * importance(referrers)) / 2 + weights.depth / (1 + depth) - (weights.age * foundAt) / ageMs
  const isAlike = (one: Page, other: Page): boolean =>
    one.depth === other.depth &&
    one.foundAt === other.foundAt &&
    reached(one.leastReferrers) === reached(other.mostReferrers)

  return {
    granted(task, isOut) {
      const page = task.kind === 'page' && task.aside === undefined ? book.get(task.url) : undefined
      if (page === undefined || page.fate !== undefined || page.wasRetried) return
      const most = worth(page, page.mostReferrers)
      for (const other of book.open.get(queueOf(page)) ?? []) {
        if (other === page || other.wasRetried || isOut(other.url)) continue
        const ahead = worth(other, other.leastReferrers) - most
        if (ahead > ROUNDING)
          throw new Violation('order', page.url, `before ${other.url}, which is worth ${ahead} more`)
        if (isAlike(other, page) && other.serial < page.serial)
          throw new Violation('order', page.url, `before ${other.url}, which was found before it and is worth the same`)
      }
    },
  }
}

/** Counts are looked at again when they reach a power of four. */
function reached(referrers: number): number {
  let count = 1
  while (4 * count <= referrers) count *= 4
  return count
}

function importance(referrers: number): number {
  const count = reached(referrers)
  return count / (count + HALF_REFERRERS)
}
