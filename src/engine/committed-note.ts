/**
 * A worker's note of how far its output is committed, in its folder: for whoever reads the folder while the store is out
 * of reach. It is written every few seconds and at the end, never ahead of the store. That it cannot be written is no
 * reason to stop: an older note is as true.
 */
import type { Clock, Disk } from '../base/index.ts'
import type { OutputPosition } from '../frontier/index.ts'
import { writeCommitted } from '../sink/index.ts'

const EVERY_MS = 5_000

export interface CommittedNote {
  /** The output reaches so far; this is not committed yet. */
  wrote(position: OutputPosition): void
  /** What was written is committed. */
  committed(): void
  start(): void
  /** Writes the note for the last time. */
  stop(): Promise<void>
}

export function createCommittedNote(
  folder: string,
  before: OutputPosition,
  { clock, disk }: { readonly clock: Clock; readonly disk: Disk },
): CommittedNote {
  let reached = before
  let position = before
  let noted = before
  let cancel = (): void => {}

  const note = async (): Promise<void> => {
    if (noted === position) return
    const next = position
    await writeCommitted(folder, next, { disk }).then(
      () => (noted = next),
      () => {},
    )
  }
  const again = (): void => {
    cancel = clock.timer(EVERY_MS, () => {
      void note()
      again()
    })
  }
  return {
    wrote(end) {
      reached = end
    },
    committed() {
      position = reached
    },
    start: again,
    async stop() {
      cancel()
      await note()
    },
  }
}
