/** What every kind of task is worked on with, and what working on one comes to. */
import type { Clock, Rng } from '../../base/index.ts'
import type { Settings } from '../../config/index.ts'
import type { Fetcher } from '../../fetch/index.ts'
import type { Lease, Settlement } from '../../frontier/index.ts'
import type { NormalizedUrl, Origin, Tier } from '../../model/index.ts'
import type { HostRegistry } from '../../politeness/index.ts'
import type { Reader } from '../../reading/index.ts'
import type { OutputRecord } from '../../sink/index.ts'
import type { Scope } from '../../url/index.ts'
import type { Admission } from './admission.ts'
import type { RepetitionJudge } from './repetition.ts'
import type { WantsSample } from './sampling.ts'

export interface TaskContext {
  readonly settings: Settings
  readonly clock: Clock
  readonly rng: Rng
  readonly fetcher: Fetcher
  /** Whatever came from the network is interpreted there. */
  readonly reader: Reader
  readonly registry: HostRegistry
  readonly scope: Scope
  /** Knows the pages that were read before. */
  readonly repetitions: RepetitionJudge
  /** The name by which robots.txt and meta robots know us. */
  readonly productToken: string
  tierOf(url: NormalizedUrl): Tier | undefined
  /** A URL that was found, without the query parameters that the crawl does not tell URLs by. */
  strip(url: NormalizedUrl): NormalizedUrl
  /** Which links belong to the crawl. */
  readonly admission: Admission
  readonly wantsSample: WantsSample
  /** Whether pages of this origin can be in scope. */
  isOurs(origin: Origin): boolean
  /** Adds URLs ahead of the settlement that names them, for answers that name very many. */
  addEarly(found: NonNullable<Settlement['found']>): Promise<void>
  /**
   * Whether this machine has a network. `up`: some host has answered since the crawl was opened. `down`: none has, and
   * none may yet. `unknown`: none has so far, but others are being asked.
   */
  connection(): 'up' | 'unknown' | 'down'
  readonly lease: Lease
  /** Told when the host has said all that it will, and what it said is read next. */
  onHeard?(heard: Heard): void
  /** Aborted when the crawl can no longer wait for this task. */
  readonly signal: AbortSignal
}

/** What an answer means for its host, before it is read. */
export type Heard = Pick<TaskResult, 'host' | 'answeredAt' | 'offline'>

/** All of a settlement but whose it is. */
export interface TaskResult extends Omit<Settlement, 'lease' | 'task' | 'record'> {
  readonly record?: OutputRecord
  /** This machine has no network, in words: nothing is decided about the task, and the crawl stops. */
  readonly offline?: string
}

/** For a request of a lease that was granted by the pace of an address: it goes there or nowhere. */
export function addressOf({ address }: Pick<Lease, 'address'>): { readonly address?: string } {
  return address === null ? {} : { address }
}
