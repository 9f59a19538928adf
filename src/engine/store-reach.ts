/**
 * Whether the store can be reached, and for how long a stop waits for one that cannot: somewhat longer than for what is
 * under way. What could not be handed over by then is given up, and its leases run out.
 */
import type { Clock } from '../base/index.ts'
import { TiptoeError } from '../model/index.ts'
import type { Ending } from './ending.ts'

/** A stop waits this much longer than its drain time for a store that is out of reach. */
const HANDOVER_MS = 2_000

export interface StoreReach {
  readonly isAway: boolean
  lost(): void
  back(): void
  /**
   * Waits for what has to be handed over to the store. Rejects when it fails, or when a stop has waited for long enough:
   * then what is handed over is not looked at any more.
   */
  whileHandedOver(handedOver: Promise<void>): Promise<void>
}

export function createStoreReach(
  ending: Pick<Ending, 'stopped' | 'drainUntil'>,
  { clock }: { readonly clock: Clock },
): StoreReach {
  let isAway = false

  /** Rejects when the store is given up, and when it was handed over before that. */
  const giveUp = async (isHandedOver: AbortSignal): Promise<never> => {
    await ending.stopped
    for (;;) {
      await clock.sleepUntil(Math.max(ending.drainUntil ?? 0, clock.now()) + HANDOVER_MS, isHandedOver)
      if (isAway) throw storeOutOfReach()
    }
  }
  return {
    get isAway() {
      return isAway
    },
    lost() {
      isAway = true
    },
    back() {
      isAway = false
    },
    async whileHandedOver(handedOver) {
      const over = new AbortController()
      try {
        await Promise.race([handedOver, giveUp(over.signal)])
      } finally {
        over.abort()
      }
    },
  }
}

function storeOutOfReach(): TiptoeError {
  return new TiptoeError('store', 'the store is out of reach, so what was under way could not be handed over', {
    hint: 'nothing is lost: it is fetched again when its leases have run out',
  })
}
