/**
 * One worker's place in a crawl that is kept on servers: how it is taken and left, whether to wait for more, and whether
 * the servers can be reached.
 */
import type { Clock } from '../../base/index.ts'
import type { FleetFrontier } from '../../frontier/index.ts'
import type { Engine } from '../engine.ts'
import { startFleetMember, type FleetMember, type FleetMemberOptions } from './fleet-member.ts'
import type { ConnectFleet, FleetLogin } from './fleet-store.ts'

/** A store that is out of reach is let go of after this. */
const CLOSE_MS = 1_000

export interface FleetSeat {
  readonly login: FleetLogin
  /** The machine and process, for people. */
  readonly machine: string
  readonly pid: number
  /** Stays when the crawl is over, for seeds that are added later. */
  readonly keep: boolean
  /** Told once for each change, also while the crawl is being opened. */
  readonly onTrouble?: (trouble: StoreTrouble) => void
  /** Default: the store itself. */
  readonly connect?: ConnectFleet
}

/** The store went out of reach, or came back. */
export interface StoreTrouble {
  readonly kind: 'lost' | 'back'
  readonly detail: string
}

/** A worker in its seat. */
export interface Seated {
  readonly fleet: FleetFrontier
  readonly seat: FleetSeat
}

/**
 * Whoever has a worker's folder has it alone, so an earlier process of that name is dead, if it was on this machine. One
 * on another machine may be at work with a copy of the folder: its leases are its own.
 */
export async function disownTheDead({ fleet, seat: { login, machine } }: Seated): Promise<void> {
  const earlier = (await fleet.crawl.members()).find(({ id }) => id === login.worker)
  if (earlier?.host === machine) await fleet.disown()
}

/** A crawl that nobody has put a seed into is not over. */
export async function staysForMore({ fleet, seat }: Seated): Promise<boolean> {
  return seat.keep || (await fleet.stats()).discovered === 0
}

export interface StoreWatch {
  readonly isInReach: boolean
  /** From now on this one hears of it too, and of how it is now if the store is out of reach. */
  tell(engine: Pick<Engine, 'storeLost' | 'storeBack'>): void
}

/** Whether the store can be reached, as far as is known. Without a fleet it always can. */
export function watchStore(seated: Seated | undefined): StoreWatch {
  let isInReach = true
  let tellEngine = (): void => {}
  seated?.fleet.onTrouble((trouble) => {
    isInReach = trouble.kind === 'back'
    tellEngine()
    seated.seat.onTrouble?.(trouble)
  })
  return {
    get isInReach() {
      return isInReach
    },
    tell(engine) {
      tellEngine = () => (isInReach ? engine.storeBack() : engine.storeLost())
      if (!isInReach) tellEngine()
    },
  }
}

/** From now on the worker is counted among the living. */
export function joinFleet(
  { fleet, seat }: Seated,
  options: Omit<FleetMemberOptions, 'fleet' | 'describe'> & {
    readonly slots: number
    readonly startedAt: number
    inFlight(): number
    pagesDone(): number
  },
  deps: { readonly clock: Clock },
): FleetMember {
  const { slots, startedAt, inFlight, pagesDone, ...rest } = options
  return startFleetMember(
    {
      ...rest,
      fleet,
      describe: () => ({
        id: seat.login.worker,
        role: 'worker',
        host: seat.machine,
        pid: seat.pid,
        slots,
        inFlight: inFlight(),
        startedAt,
        done: pagesDone(),
      }),
    },
    deps,
  )
}

/** A store that is away must not keep the crawl from ending. What it is not told it finds out when leases run out. */
export function inTime(farewell: Promise<void>, { clock }: { readonly clock: Clock }): Promise<void> {
  const said = new AbortController()
  const done = farewell.finally(() => said.abort())
  return Promise.race([done, clock.sleepUntil(clock.now() + CLOSE_MS, said.signal)]).catch(() => {})
}
