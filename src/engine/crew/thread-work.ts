/**
 * What a thread of a crawl does: the whole worker loop, with a network and a reader of its own, on leases that it asks the
 * thread of the frontier for. What it settles goes back there.
 */
import type { MessagePort } from 'node:worker_threads'
import { createSystemClock } from '../../base/index.ts'
import type { Lease, LeaseAnswer, LeaseRef, Settlement } from '../../frontier/index.ts'
import type { FoundUrl, HostRecord, NormalizedUrl } from '../../model/index.ts'
import { createGuardedReader, createReader, type GuardOptions } from '../../reading/index.ts'
import { createContentFiles, type OutputRecord } from '../../sink/index.ts'
import { createEngine, type EndReason } from '../engine.ts'
import { createManners } from '../manners.ts'
import { createReachability } from '../reachability.ts'
import type { Judged, Repetition } from '../tasks/repetition.ts'
import { createRequestRate } from '../request-rate.ts'
import { createSeedScope } from '../seed-scope.ts'
import { createWorkshop } from '../workshop.ts'
import { createLinkWriter } from './link-book.ts'
import { openLine, plainError } from './line.ts'
import { noteOf } from './settlement-note.ts'
import { createTellingAudit } from './telling-audit.ts'
import type { Pause } from './thread-calls.ts'
import type { ThreadData } from './thread-data.ts'
import { createThreadState } from './thread-state.ts'

/** Works until the crawl is over, and says so. `read`: for tests, how documents are read. */
export async function workInThread(
  port: MessagePort,
  data: ThreadData,
  read?: NonNullable<GuardOptions['read']>,
): Promise<void> {
  const { settings } = data
  const clock = createSystemClock(data.clockOrigin)
  const state = createThreadState(data.state)
  const line = openLine(
    port,
    {
      stop: (reason: EndReason) => engine.stop(reason),
      abort: () => engine.abort(),
      storeLost: () => engine.storeLost(),
      storeBack: () => engine.storeBack(),
      look: () => engine.look(),
      pause: ({ host, until, reason }: Pause) => engine.pause(host, until, reason),
      resize: (slots: number) => engine.resize(slots),
      seeds: (seeds: readonly NormalizedUrl[]) => seedScope.add(seeds),
    },
    () => {
      state.inFlight = engine.inFlight
    },
  )

  const seedScope = createSeedScope(settings, data.seeds)
  const { registry, audit, heed } = createManners(settings, {
    clock,
    loadHost: (host) => line.call<HostRecord | undefined>('host', host),
    // The thread of the frontier sees the requests of all threads, and judges.
    onViolation: () => {},
  })

  const links = createLinkWriter()
  const leases = new Map<number, { readonly lease: Lease; left: number }>()
  const hold = (answer: LeaseAnswer): LeaseAnswer => {
    for (const lease of answer.leases) leases.set(lease.fence, { lease, left: lease.tasks.length })
    return answer
  }
  const settle = (settlement: Settlement, delayMs: number): Promise<'settled' | 'stale'> => {
    const held = leases.get(settlement.lease.fence)
    if (held === undefined) return Promise.resolve('stale')
    held.left -= 1
    if (held.left === 0) leases.delete(settlement.lease.fence)
    const note = noteOf(settlement, held.lease, { links, wantsMarkdown: data.wantsMarkdown })
    return line.call('settle', { note, delayMs })
  }

  const workshop = createWorkshop(settings, {
    clock,
    registry,
    seedScope,
    reader: createGuardedReader(createReader({ threads: 1 }, { clock }), {
      clock,
      onReading: (url) => state.read(url ?? ''),
      ...(read === undefined ? {} : { read }),
    }),
    repetitions: {
      judge: (url, judged) => (tellsNothing(url, judged) ? {} : line.call<Repetition>('judge', { url, judged })),
    },
  })
  const content = data.outputFolder === undefined ? undefined : createContentFiles(data.outputFolder)
  const engine = createEngine({
    frontier: {
      add: (found: readonly FoundUrl[]) => line.call('add', found),
      lease: async (request) => hold(await line.call<LeaseAnswer>('lease', request)),
      extend: (lease: LeaseRef) => line.call('extend', { host: lease.host, fence: lease.fence }),
      stats: () => line.call('stats'),
    },
    settler: {
      settle,
      async flush() {
        line.tell('flush')
      },
      hurry: () => line.tell('hurry'),
    },
    worker: data.worker,
    slots: data.slots,
    drainMs: settings.drainMs,
    isArchiving: data.isArchiving,
    audit: createTellingAudit(audit, line, { clock }),
    network: createReachability(data.reachability, data.thread),
    onPause: (host, until, reason) => line.tell('paused', { host, until, reason }),
    ...(data.lookAgainMs === undefined ? {} : { lookAgainMs: data.lookAgainMs }),
    ...(settings.maxRate === undefined
      ? {}
      : {
          rate: createRequestRate((asked) => line.call<number>('permits', asked), {
            clock,
            perSecond: settings.maxRate,
          }),
        }),
    ...(content === undefined
      ? {}
      : {
          beforeSettling: async ({ record }) => {
            if (record !== undefined) await content.write(record as OutputRecord)
          },
        }),
    onSettled: ({ robots }) => {
      if (robots !== undefined) heed(robots)
    },
    tasks: workshop.tasks,
  })

  line.tell('ready')
  try {
    const reason = await engine.run()
    await workshop.close()
    line.tell('ended', reason)
  } catch (error) {
    line.tell('failed', plainError(error))
  }
  line.flush()
  port.close()
}

/** A page that names no other as canonical, and whose text was not looked at, repeats nothing. */
function tellsNothing(url: NormalizedUrl, { canonical, near }: Judged): boolean {
  return near === null && (canonical === null || canonical === url)
}
