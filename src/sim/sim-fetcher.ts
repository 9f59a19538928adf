/**
 * A fetcher whose network is the simulated web: the same outcomes, times and callbacks as the real one. What is on the
 * wire belongs to the world and goes on whatever becomes of the process; what the process hears of it waits until the
 * process can listen.
 */
import type { Fetcher, FetchError, FetchOutcome, FetchTimeouts, ResponseHeaders, WireExchange } from '../fetch/index.ts'
import { hostKey, originOf, targetOf } from '../url/index.ts'
import type { Reaction, Visit, VisitKind, Web, WebObserver } from './web.ts'
import type { SimProcess, World } from './world.ts'

const DNS_MS = 5
const ABORTED: FetchOutcome = { kind: 'aborted' }

export interface SimFetcherDeps {
  readonly world: World
  readonly web: Web
  readonly process: SimProcess
  readonly timeouts: FetchTimeouts
  /** A step of the process, at which something may happen to it. */
  step(what: string): void
}

export function createSimFetcher(deps: SimFetcherDeps): Fetcher {
  const { world, web, process, timeouts, step } = deps
  const { clock } = process
  const active = new Set<() => void>()
  let serial = 0
  let closed = false

  /** What an observer throws ends the run; the crawler under test must not be the one to catch it. */
  const observe = (look: (observer: WebObserver) => void): void => {
    try {
      for (const observer of web.observers) look(observer)
    } catch (error) {
      world.fail(error)
    }
  }
  const tell = (what: 'started' | 'arrived' | 'ended', visit: Visit): void => {
    world.trace.note(what, visit.url, process.name)
    observe((observer) => observer[what]?.(visit))
  }

  return {
    fetch(request, signal) {
      if (closed || signal?.aborted === true) return Promise.resolve(ABORTED)
      return new Promise((resolve) => {
        const { url } = request
        const host = web.host(hostKey(url))
        const startedAt = clock.now()
        const path = targetOf(url)
        const conditions = lowerCased(request.headers ?? {})
        if (host === undefined || host.spec.state === 'nameless') {
          const detail = `there is no address for ${hostKey(url)}`
          const error = { code: 'dns', detail, retryable: false, sent: false } as const
          process.later(DNS_MS, () => resolve(errorOf(error, startedAt, clock.now())))
          return
        }
        const now = web.addressOf(host, world.now())
        if (request.address !== undefined && request.address !== now) {
          process.later(DNS_MS, () => resolve({ kind: 'elsewhere', address: now }))
          return
        }
        const visit: Visit = {
          serial: serial++,
          process,
          host,
          url,
          path,
          origin: originOf(url),
          kind: kindOf(path),
          startedAt: world.now(),
          freezes: process.frozen ? -1 : process.freezes,
          arrivedAt: undefined,
          answeredAt: undefined,
          heardAt: undefined,
          brokeOff: false,
          over: false,
        }
        tell('started', visit)
        let answeredAt: number | undefined
        let status: number | undefined
        const hear = (reaction: Reaction | undefined): number => {
          if (answeredAt !== undefined) return answeredAt
          answeredAt = clock.now()
          visit.heardAt = world.now()
          observe((observer) => observer.heard?.(visit, reaction))
          return answeredAt
        }
        const end = (outcome: FetchOutcome): void => {
          if (visit.over) return
          visit.over = true
          active.delete(abort)
          cancelTimer()
          signal?.removeEventListener('abort', abort)
          tell('ended', visit)
          resolve(outcome)
        }
        const abort = (): void => {
          hear(undefined)
          end(ABORTED)
        }
        const fail = (error: Failing): void => {
          if (visit.over) return
          // An answer that began and broke off is known by its status alone.
          visit.brokeOff = status !== undefined
          const isFirst = answeredAt === undefined
          const at = hear(undefined)
          if (isFirst) request.onAnswer?.(at)
          step('answer')
          end({ ...errorOf(error, startedAt, at), ...(status === undefined ? {} : { status }) })
        }
        const cancelTimer = clock.timer(Math.min(timeouts.totalMs, timeouts.readMs + 2 * host.spec.wireMs), () =>
          fail({ code: 'timeout', detail: 'no answer in time', retryable: true, sent: true }),
        )
        signal?.addEventListener('abort', abort, { once: true })
        active.add(abort)

        const deliver = (reaction: Extract<Reaction, { kind: 'answer' }>): void => {
          if (visit.over) return
          const at = hear(reaction)
          status = reaction.status
          request.onAnswer?.(at)
          step('answer')
          const body = Buffer.from(reaction.body)
          process.later(reaction.bodyMs, () =>
            end({
              kind: 'response',
              status: reaction.status,
              headers: headersOf(reaction.headers),
              body,
              wireBytes: body.length,
              truncated: false,
              limits: [],
              startedAt,
              answeredAt: at,
              endedAt: clock.now(),
              address: now,
              protocol: 'http/1.1',
              ...(request.keepWire === true ? { wire: wireOf(path, hostKey(url), reaction, body) } : {}),
            }),
          )
        }
        const arrive = (): void => {
          if (visit.over || !process.alive) return
          visit.arrivedAt = world.now()
          tell('arrived', visit)
          const reaction = web.react(host, url, path, world.now(), conditions)
          if (reaction.kind === 'hang') return
          const thinkMs = reaction.kind === 'refuse' ? 0 : reaction.thinkMs
          world.at(world.now() + thinkMs, () => {
            if (visit.over || !process.alive) return
            visit.answeredAt = world.now()
            world.trace.note('answered', url, reaction.kind === 'answer' ? reaction.status : reaction.kind)
            observe((observer) => observer.answered?.(visit, reaction))
            process.later(host.spec.wireMs, () => {
              if (reaction.kind === 'answer') return deliver(reaction)
              if (reaction.kind === 'refuse')
                return fail({ code: 'connect', detail: 'the connection was refused', retryable: true, sent: true })
              return fail({ code: 'protocol', detail: 'the connection was reset', retryable: true, sent: true })
            })
          })
        }
        world.at(world.now() + host.spec.wireMs, arrive)
        step('sent')
      })
    },
    resolve(url) {
      const host = web.host(hostKey(url))
      return new Promise((resolve) => {
        process.later(DNS_MS, () =>
          resolve(host === undefined || host.spec.state === 'nameless' ? undefined : web.addressOf(host, world.now())),
        )
      })
    },
    close() {
      closed = true
      for (const abort of active) abort()
      return Promise.resolve()
    },
    stats: { openOrigins: 0 },
  }
}

type Failing = Pick<FetchError, 'code' | 'detail' | 'retryable' | 'sent'>

function errorOf(error: Failing, startedAt: number, answeredAt: number): FetchError {
  return { kind: 'error', ...error, offline: false, startedAt, answeredAt }
}

function kindOf(path: string): VisitKind {
  if (path === '/robots.txt' || path.startsWith('/robots-moved/')) return 'robots'
  return path.startsWith('/sitemap') && path.endsWith('.xml') ? 'sitemap' : 'page'
}

function wireOf(path: string, host: string, answer: Extract<Reaction, { kind: 'answer' }>, body: Buffer): WireExchange {
  const fields = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return {
    requestHead: `GET ${path} HTTP/1.1\r\nhost: ${host}\r\n\r\n`,
    responseHead: `HTTP/1.1 ${answer.status} \r\n${fields.join('')}\r\n`,
    body,
  }
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function headersOf(fields: Readonly<Record<string, string>>): ResponseHeaders {
  const get = (name: string): string | null => fields[name.toLowerCase()] ?? null
  return {
    get,
    all(name) {
      const value = get(name)
      return value === null ? [] : [value]
    },
  }
}
