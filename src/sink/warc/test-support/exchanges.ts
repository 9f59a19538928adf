/** Exchanges to archive, and an archive whose identifiers and times are the same in every run. */
import { createSystemDisk } from '../../../base/index.ts'
import type { ArchiveOptions } from '../archive.ts'
import type { ArchivedExchange } from '../exchange.ts'

export const STARTED_AT = Date.UTC(2026, 0, 2, 3, 4, 5, 678)

interface ExchangeChoice extends Partial<Omit<ArchivedExchange, 'wire' | 'url'>> {
  readonly requestHead?: string
  readonly responseHead?: string
  readonly body?: string | Uint8Array
}

export function exchange(url: string, choice: ExchangeChoice = {}): ArchivedExchange {
  const { requestHead, responseHead, body = 'Hello', ...more } = choice
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const { host, pathname, search } = new URL(url)
  return {
    url,
    wire: {
      requestHead: requestHead ?? `GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: Tester\r\n\r\n`,
      responseHead:
        responseHead ??
        `HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: ${bytes.length}\r\n\r\n`,
      body: bytes,
    },
    status: 200,
    startedAt: STARTED_AT,
    endedAt: STARTED_AT + 12.4,
    address: '192.0.2.1',
    protocol: 'http/1.1',
    ...more,
  }
}

/** Identifiers count up from the seed. */
export function archiveOptions(choice: Partial<ArchiveOptions> & { seed?: number } = {}): ArchiveOptions {
  const { seed = 0, ...more } = choice
  let serial = seed * 1_000_000
  return {
    maxFileBytes: 1024 ** 3,
    userAgent: 'Tester/1.0 (+https://tester.test/)',
    robots: 'obey',
    isTakenBack: true,
    newUuid: () => `00000000-0000-4000-8000-${String(++serial).padStart(12, '0')}`,
    clock: { now: () => STARTED_AT },
    disk: createSystemDisk(),
    ...more,
  }
}
