/** How often each of some events has happened on a bus, since the counting began. */
import type { EventBus } from './event-bus.ts'

export function countEvents<Events, Name extends keyof Events>(
  bus: EventBus<Events>,
  names: readonly Name[],
): Readonly<Record<Name, number>> {
  const counts = Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>
  for (const name of names) bus.on(name, () => (counts[name] += 1))
  return counts
}
