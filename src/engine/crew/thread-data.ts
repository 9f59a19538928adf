/** What a thread of a crawl is given to begin with: plain data, which can cross from one thread to another. */
import type { Settings } from '../../config/index.ts'
import type { NormalizedUrl } from '../../model/index.ts'

export interface ThreadData {
  /** Which of the threads it is, from 0. */
  readonly thread: number
  readonly worker: string
  readonly settings: Settings
  readonly seeds: readonly NormalizedUrl[]
  readonly slots: number
  /** That of the crawl's clock. */
  readonly clockOrigin: number
  /** Where content files go; absent when nothing is written. */
  readonly outputFolder?: string
  /** Records are also handed to others, with their Markdown. */
  readonly wantsMarkdown: boolean
  /** What goes over the wire is archived. */
  readonly isArchiving: boolean
  readonly lookAgainMs?: number
  /** Where compiled modules are kept; absent when they are not. */
  readonly compileCache?: string
  readonly reachability: SharedArrayBuffer
  readonly state: SharedArrayBuffer
}
