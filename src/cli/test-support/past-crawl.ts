/** A crawl that was made long ago, so that everything in its folder is due. */
import { createSystemClock, sleepWith, type Clock } from '../../base/index.ts'
import { parseArguments, resolveSettings } from '../../config/index.ts'
import { openCrawl, prepareCrawlFolder, readSeed, stateFolder } from '../../engine/index.ts'

/** Longer than any page waits for its next visit. */
const LONG_AGO_MS = 400 * 86_400_000

export function createPastClock(): Clock {
  const clock = createSystemClock()
  const now = (): number => clock.now() - LONG_AGO_MS
  return { ...clock, now, wall: () => clock.wall() - LONG_AGO_MS, sleepUntil: sleepWith(now, clock.timer) }
}

/** Crawls as the command line would, by a clock that was right then. */
export async function crawlLongAgo(words: readonly string[], folder: string): Promise<void> {
  const { settings } = resolveSettings({ version: '0.0.0', flags: parseArguments(words).flags })
  const plan = { settings: { ...settings, outDirectory: folder }, seeds: settings.seeds.map(readSeed) }
  prepareCrawlFolder(folder, plan, undefined)
  const crawl = await openCrawl({
    ...plan,
    store: stateFolder(folder),
    outputFolder: folder,
    clock: createPastClock(),
  })
  try {
    await crawl.run()
  } finally {
    await crawl.close()
  }
}
