/**
 * A generated site in a process of its own, so that its work is not counted as the crawler's. Pages are kept once they
 * were made, up to a limit, so that after the first run serving costs next to nothing.
 *
 * Started by `startSite`; tells its port, and the number of requests so far when it is asked.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import {
  createLoopbackWeb,
  generatedSite,
  type Answer,
  type GeneratedSiteOptions,
  type HostBehaviour,
} from '../../test/support/loopback-web.ts'

export const SITE = 'site.test'
/** Bodies kept, in bytes. */
const KEPT_BYTES = 600_000_000
/** The web keeps a log of this many requests; a benchmark repeats itself. */
const LOG_LIMIT = 5_000_000

export interface Site {
  readonly port: number
  /** Requests answered so far. */
  requests(): Promise<number>
  stop(): void
}

export async function startSite(options: GeneratedSiteOptions): Promise<Site> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), [JSON.stringify(options)])
  const answer = async (): Promise<number> => ((await once(child, 'message')) as [number])[0]
  const port = await answer()
  return {
    port,
    requests() {
      const counted = answer()
      child.send('count')
      return counted
    },
    stop: () => void child.kill(),
  }
}

function kept(behaviour: Extract<HostBehaviour, (...args: never) => unknown>): HostBehaviour {
  const answers = new Map<string, Answer>()
  let bytes = 0
  return async (request) => {
    const known = answers.get(request.path)
    if (known !== undefined) return known
    const made = await behaviour(request)
    bytes += made.body?.length ?? 0
    if (bytes < KEPT_BYTES) answers.set(request.path, made)
    return made
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const behaviour = generatedSite(JSON.parse(process.argv[2] ?? '{}') as GeneratedSiteOptions)
  if (typeof behaviour !== 'function') throw new Error('a generated site is a function')
  const web = await createLoopbackWeb({ [SITE]: kept(behaviour) }, { logLimit: LOG_LIMIT })
  process.on('message', () => process.send?.(web.log.length))
  process.on('disconnect', () => process.exit())
  process.send?.(web.port)
}
