/** The folder of a worker that never was, as one of a fleet would have left it. */
import { writeCommitted, writeWorkerFolder } from '../../sink/index.ts'
import { makeCrawl, type MadePage } from './hand-made-crawl.ts'

export interface MadeWorker {
  readonly worker: string
  readonly crawl?: string
  readonly pages: readonly MadePage[]
  readonly revisits?: readonly object[]
  /** Written behind the committed end of the records. */
  readonly beyond?: string
  /** It did not come to write down how much was committed. */
  readonly uncommitted?: true
}

/** Returns the committed length of each file. */
export async function makeWorker(folder: string, made: MadeWorker): Promise<Readonly<Record<string, number>>> {
  const { worker, crawl = 'news', pages, uncommitted, ...more } = made
  const output = makeCrawl(folder, pages, more).folders[0]?.output ?? {}
  await writeWorkerFolder(folder, { crawl, worker, store: 'redis://127.0.0.1:6379' })
  if (uncommitted !== true) await writeCommitted(folder, output)
  return output
}
