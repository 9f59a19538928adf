/** Runs something under V8's sampling profiler, if a folder for profiles is given. */
import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { join } from 'node:path'

export async function profiled<T>(folder: string | undefined, name: string, work: () => Promise<T>): Promise<T> {
  if (folder === undefined) return await work()
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.start')
  const result = await work()
  const { profile } = await session.post('Profiler.stop')
  session.disconnect()
  writeFileSync(join(folder, `${name}.cpuprofile`), JSON.stringify(profile))
  return result
}
