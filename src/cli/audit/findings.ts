/** What an audit found wrong: each kind counted, and told with its first few examples. */

/** Kinds of violation, and what each means. */
export const VIOLATIONS = {
  counter: 'a stored counter differs from the number of rows',
  queue: 'a waiting line of the store does not hold the URLs that belong in it',
  'short-file': 'a file of the output is shorter than what was committed',
  'long-file': 'a file of the output was added to after the crawl was closed',
  'torn-record': 'a line is not a whole record',
  'unknown-url': 'a record is of a URL that the crawl never discovered',
  'wrong-state': 'a record does not agree with how its URL was settled',
  'doubled-record': 'a URL has more records than visits, or more than one of its end',
  'missing-record': 'a settled URL, or a visit of a page, has no record',
  totals: 'the records do not add up to the stored totals',
  content: 'the content file of a page is missing, or not where it belongs',
  pace: 'a host was asked before its delay had passed',
  'domain-pace': 'a registrable domain was asked before its delay had passed',
  'in-flight': 'more requests were in flight to a host than its limit',
  impolite: 'the audit that runs with the crawl saw a request that it should not have made',
} as const
export type ViolationKind = keyof typeof VIOLATIONS

const EXAMPLES = 3

export interface Violation {
  readonly kind: ViolationKind
  readonly meaning: string
  readonly count: number
  readonly examples: readonly string[]
}

export interface Findings {
  /** `times`: so many of which this is one. */
  add(kind: ViolationKind, example: string, times?: number): void
  /** In the order of the table above. */
  list(): Violation[]
}

export function createFindings(): Findings {
  const found = new Map<ViolationKind, { count: number; examples: string[] }>()
  return {
    add(kind, example, times = 1) {
      const entry = found.get(kind) ?? { count: 0, examples: [] }
      found.set(kind, entry)
      entry.count += times
      if (entry.examples.length < EXAMPLES) entry.examples.push(example)
    },
    list() {
      const kinds = Object.keys(VIOLATIONS) as ViolationKind[]
      return kinds.flatMap((kind) => {
        const entry = found.get(kind)
        return entry === undefined ? [] : [{ kind, meaning: VIOLATIONS[kind], ...entry }]
      })
    },
  }
}
