/** `tiptoe coordinator`: looks after a crawl on a store, or waits to take over from who does. */
import { hostname } from 'node:os'
import { createSystemClock } from '../../base/index.ts'
import { configPathOf } from '../../config/index.ts'
import { createCoordinator, openFleet, type CoordinatorStatus, type EndReason } from '../../engine/index.ts'
import { countOf, formatCount } from '../count-words.ts'
import { EXIT } from '../exit-code.ts'
import { agreeOn, fleetPlace, loginOf, newMemberName, troubleWords, type FleetDeps } from '../fleet-place.ts'
import { serveHealth } from '../health.ts'
import type { Invocation } from '../invocation.ts'
import { listenForSignals } from '../signals.ts'
import type { Terminal } from '../terminal.ts'
import { typedSettings } from '../typed-settings.ts'
import { typedAgain } from './crawl.ts'

/** With `--json`, how the crawl stands is printed so often. */
const STATUS_MS = 10_000

export async function coordinatorCommand(invocation: Invocation, deps: FleetDeps = {}): Promise<number> {
  const { parsed, env, terminal } = invocation
  const typed = typedSettings(invocation)
  const place = fleetPlace(typed, 'coordinator')
  const id = typed.workerId ?? newMemberName()
  const clock = createSystemClock()
  let isInReach = false
  let leads = false
  const { healthAddress } = typed
  const report = () => ({ role: 'coordinator', crawl: place.crawl, id, ready: isInReach, leads }) as const
  const health = healthAddress === undefined ? undefined : await serveHealth(healthAddress, report)
  if (health !== undefined) terminal.note(`answering /healthz and /readyz at ${health.address}`)

  const begins = configPathOf(parsed.switches, env) !== undefined
  const { settings } = await agreeOn(place, invocation, { worker: id, begins, clock, deps })
  const fleet = openFleet(settings, loginOf(place, id, settings, invocation), { clock, connect: deps.connect })
  isInReach = true
  fleet.onTrouble(({ kind, detail }) => {
    isInReach = kind === 'back'
    terminal.note(troubleWords(kind, detail))
  })
  const tell = createTeller(terminal, { isJson: parsed.switches.json === true, now: () => clock.now() })
  const keep = parsed.switches.keep === true
  const coordinator = createCoordinator(
    {
      fleet,
      id,
      machine: hostname(),
      pid: process.pid,
      settings,
      keep,
      onStatus(status) {
        leads = status.leads
        tell.status(status)
      },
    },
    { clock },
  )
  const signals = listenForSignals(
    { stop: () => coordinator.stop(), abort: () => coordinator.stop() },
    { drainMs: settings.drainMs, resumeCommand: typedAgain(invocation) },
    terminal,
  )
  try {
    const end = await coordinator.run()
    terminal.done()
    tell.end(end)
    if (end === 'stopped') return signals.exitCode ?? EXIT.interrupt
    return end === 'finished' ? EXIT.done : EXIT.limit
  } finally {
    signals.release()
    await health?.close()
    await fleet.close()
  }
}

interface Teller {
  status(status: CoordinatorStatus): void
  end(reason: EndReason): void
}

const ENDINGS: Readonly<Record<EndReason, string>> = {
  finished: 'the crawl is finished',
  limit: 'the crawl has reached its limit of pages',
  time: 'the crawl has reached its time, and was ended for all workers',
  bytes: 'the crawl has reached its size, and was ended for all workers',
  halted: 'the crawl was ended for all workers',
  stopped: 'stopped; the workers go on, with another coordinator or without one',
}

/** Changes are told as they happen; how the crawl stands is drawn in place, or printed as JSON now and then. */
function createTeller(terminal: Terminal, { isJson, now }: { readonly isJson: boolean; now(): number }): Teller {
  let led: boolean | undefined
  let workers: number | undefined
  let statusAt = -Infinity
  const event = (name: string, details: object, text: string): void => {
    if (isJson) terminal.data(JSON.stringify({ event: name, ...details }))
    else terminal.note(text)
  }
  return {
    status({ leads, members, stats }) {
      if (leads !== led) event('lead', { leads }, leads ? 'this coordinator leads' : 'another coordinator leads')
      led = leads
      const live = members.filter(({ role }) => role === 'worker')
      if (leads && live.length !== workers) {
        workers = live.length
        event('workers', { workers }, countOf(workers, 'worker'))
      }
      if (stats === undefined) return
      const inFlight = live.reduce((sum, member) => sum + member.inFlight, 0)
      const { discovered, queued, leased, failed, bytes } = stats
      const done = stats.done + stats.refreshing
      if (isJson && now() >= statusAt) {
        statusAt = now() + STATUS_MS
        const line = { workers: live.length, inFlight, discovered, queued, leased, done, failed, bytes }
        terminal.data(JSON.stringify({ event: 'status', ...line }))
      }
      const parts = [
        countOf(live.length, 'worker'),
        `${formatCount(inFlight)} in flight`,
        `${formatCount(done)} saved`,
        `${formatCount(queued)} queued`,
        `${formatCount(failed)} failed`,
      ]
      terminal.live([parts.join(' · ')])
    },
    end: (reason) => event('end', { reason }, ENDINGS[reason]),
  }
}
