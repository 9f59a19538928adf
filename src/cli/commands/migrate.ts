/** `tiptoe migrate DIR STORE` and `tiptoe migrate STORE DIR`: a crawl moves between one machine and a fleet. */
import { createSystemClock } from '../../base/index.ts'
import { TiptoeError } from '../../model/index.ts'
import { countOf } from '../count-words.ts'
import { EXIT } from '../exit-code.ts'
import type { Invocation } from '../invocation.ts'
import { moveToFolder } from '../migrate/to-folder.ts'
import { moveToStore } from '../migrate/to-store.ts'
import { isStore, storePlace } from '../store-operand.ts'
import { escapeForTerminal } from '../terminal.ts'

/** How often it is told how far it has come. */
const TOLD_EVERY_MS = 2_000

export async function migrateCommand(invocation: Invocation): Promise<number> {
  const { parsed, terminal, version } = invocation
  const [from = '', to = '', ...more] = parsed.operands
  const given = [...(parsed.switches.from?.split('\n') ?? []), ...more]
  const clock = createSystemClock()
  let toldAt = -Infinity
  const onProgress = (text: string): void => {
    if (clock.now() - toldAt < TOLD_EVERY_MS) return
    toldAt = clock.now()
    terminal.note(`moved ${text}`)
  }
  const onWait = (text: string): void => terminal.note(`waiting ${text}`)
  if (isStore(from) === isStore(to)) {
    throw new TiptoeError('usage', 'a crawl is moved from a folder to a store, or from a store to a folder', {
      hint: 'tiptoe migrate DIR redis://127.0.0.1 --crawl NAME',
    })
  }
  if (isStore(to)) {
    if (given.length > 0) {
      throw new TiptoeError('usage', 'records stay in their folder when a crawl moves to a store', {
        hint: 'leave --from out',
      })
    }
    const place = storePlace(to, invocation)
    const flag = parsed.flags['partitions']
    const partitions = flag === undefined ? undefined : Number(flag)
    const moved = await moveToStore({ folder: from, place, partitions, version, clock, onProgress })
    terminal.result({ from, to: place.name, ...moved }, () =>
      [
        `${escapeForTerminal(from)} is now ${escapeForTerminal(place.name)}: ${countOf(moved.urls, 'URL')} of ${countOf(moved.hosts, 'host')}`,
        `The records of what was done until now stay in ${escapeForTerminal(from)}; tiptoe export takes them together with those of the workers.`,
      ].join('\n'),
    )
    return EXIT.done
  }
  const place = storePlace(from, invocation)
  const moved = await moveToFolder({ folder: to, place, from: given, version, clock, onProgress, onWait })
  terminal.result({ from: place.name, to, ...moved }, () =>
    [
      `${escapeForTerminal(place.name)} is now in ${escapeForTerminal(to)}: ${countOf(moved.urls, 'URL')} of ${countOf(moved.hosts, 'host')}, ${countOf(moved.records, 'record')}`,
      ...(moved.doubled === 0
        ? []
        : [`${countOf(moved.doubled, 'record')} that two workers had written left out once`]),
      `Go on with: tiptoe -o ${escapeForTerminal(to)}`,
    ].join('\n'),
  )
  return EXIT.done
}
