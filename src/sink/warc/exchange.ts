/** One request and its answer, as it is handed over to be archived. */
import type { Via } from '../../model/index.ts'

export interface ArchivedExchange {
  readonly url: string
  /** Heads are Latin-1 with a CRLF behind each line; the body is without chunks but still compressed. */
  readonly wire: { readonly requestHead: string; readonly responseHead: string; readonly body: Uint8Array }
  readonly status: number
  /** Clock ms: when the request was sent, and when the last byte of the answer was there. */
  readonly startedAt: number
  readonly endedAt: number
  /** The address that was dialled. */
  readonly address: string
  readonly protocol: 'http/1.1' | 'h2'
  /** As TLS itself numbers it: `1.3`. Absent when it is not known, or there was none. */
  readonly tls?: string
  /** Why the body is not whole: a limit on its length, on time, or a connection that broke. */
  readonly truncated?: Truncation
  /** How the URL was found, by which page, and how many links from a seed. */
  readonly via?: Via
  readonly referrer?: string
  readonly depth?: number
  /** The encoding by which the body was read. */
  readonly charset?: string | null
  /**
   * Lets the memory of the body be used for another: the archive calls it when it does not need the body any more. Absent
   * where others may still look at it.
   */
  readonly release?: () => void
}

export type Truncation = 'length' | 'time' | 'disconnect'
