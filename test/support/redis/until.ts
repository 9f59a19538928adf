/** Waiting for what a server does in its own time: asked again and again, with a deadline that fails the test. */
import { setTimeout as pause } from 'node:timers/promises'

const PAUSE_MS = 25

export async function until(
  condition: () => boolean | Promise<boolean>,
  withinMs: number,
  what: string,
): Promise<void> {
  const deadline = Date.now() + withinMs
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`)
    await pause(PAUSE_MS)
  }
}
