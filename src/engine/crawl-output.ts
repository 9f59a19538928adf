/**
 * The output of a crawl, opened at the position that was committed last: records, content, an archive and fingerprints of
 * texts, as the frontier and the engine need them. What lies beyond that position is cut off.
 *
 * Without a folder nothing is written, and what pages say is compared for as long as the process lives.
 */
import { join } from 'node:path'
import { createSystemDisk, type Clock, type Disk } from '../base/index.ts'
import type { Settings } from '../config/index.ts'
import type { Output, OutputPosition, Settlement } from '../frontier/index.ts'
import { TiptoeError } from '../model/index.ts'
import {
  createContentFiles,
  explained,
  hasRecords,
  makeContentFolder,
  openFingerprints,
  openOutputFolder,
  readCommitted,
  writeCommitted,
  type ArchiveOptions,
  type Fingerprints,
  type OutputFolder,
  type OutputRecord,
} from '../sink/index.ts'
import { createCommittedNote, type CommittedNote } from './committed-note.ts'
import { stateFolder } from './crawl-folder.ts'

/** Below the output folder. */
const FINGERPRINTS = 'state/fingerprints'
/** Calls to `append` that may be taken back: more than any settling makes. */
const MOST_TAKEN_BACK = 2_048

export interface CrawlOutput {
  readonly fingerprints: Fingerprints
  /** Absent when records are only handed to listeners. */
  readonly written?: WrittenOutput
  close(): void
}

/** What is written to a folder. */
export interface WrittenOutput {
  readonly path: string
  /** As the frontier commits it. */
  readonly output: Output
  readonly isArchiving: boolean
  /** Where a worker of a fleet says how far its output is committed. */
  readonly note?: CommittedNote
  /** Before a settlement is committed: the file that its record points to, and what goes into an archive with it. */
  writeContent(settlement: Settlement): Promise<void>
  prepare(settlement: Settlement): Promise<void>
}

export interface CrawlOutputOptions {
  readonly settings: Settings
  /** The folder; absent when nothing is to be written. */
  readonly path: string | undefined
  /** How far it was committed. */
  readonly committed: OutputPosition
  /** No URL is known to the store. */
  readonly isNew: boolean
  /** Others work on the crawl too, each with a folder of its own. */
  readonly isFleet: boolean
  /** How records of an archive are named and compressed. */
  readonly archive: Pick<ArchiveOptions, 'newUuid' | 'compress'>
}

export async function openCrawlOutput(
  options: CrawlOutputOptions,
  { clock, disk = createSystemDisk() }: { readonly clock: Clock; readonly disk?: Disk | undefined },
): Promise<CrawlOutput> {
  const { settings, path, committed, isFleet } = options
  const maxEntries = settings.nearDuplicates
  if (path === undefined || settings.sink !== 'files') {
    const fingerprints = openFingerprints(undefined, 0, { disk, maxEntries })
    return { fingerprints, close: () => fingerprints.close() }
  }
  refuseForgotten(path, options, disk)
  disk.makeFolder(stateFolder(path))
  // Whoever reads the folder must not count on what is cut off now.
  if (isFleet) await writeCommitted(path, committed, { disk })
  const isArchiving = settings.formats.includes('warc')
  const archive = (): ArchiveOptions => {
    const { ignoreRobotsBecause, userAgent, archiveBytes: maxFileBytes } = settings
    const robots = ignoreRobotsBecause === undefined ? 'obey' : `ignored: ${ignoreRobotsBecause}`
    return { maxFileBytes, userAgent, robots, isTakenBack: isFleet, clock, disk, ...options.archive }
  }
  const folder = openOutputFolder(path, committed, { disk, ...(isArchiving ? { archive: archive() } : {}) })
  const fingerprints = openFingerprints(join(path, FINGERPRINTS), committed[FINGERPRINTS] ?? 0, { disk, maxEntries })
  const note = isFleet ? createCommittedNote(path, committed, { clock, disk }) : undefined
  if (writesFiles(settings)) makeContentFolder(path, disk)
  const content = createContentFiles(path, { disk })
  return {
    fingerprints,
    written: {
      path,
      output: outputOf(folder, fingerprints, { path, committed, note }),
      isArchiving,
      ...(note === undefined ? {} : { note }),
      async writeContent({ record }) {
        if (record !== undefined) await content.write(record as OutputRecord)
      },
      async prepare({ record }) {
        if (record !== undefined) await folder.prepare(record as OutputRecord)
      },
    },
    close() {
      folder.close()
      fingerprints.close()
    },
  }
}

/** A file for each page. */
function writesFiles({ formats, content }: Settings): boolean {
  return formats.includes('html') || (content && formats.includes('markdown'))
}

/** Folder and fingerprints as one output, which ends where both do. */
function outputOf(
  folder: OutputFolder,
  fingerprints: Fingerprints,
  known: { readonly path: string; readonly committed: OutputPosition; readonly note: CommittedNote | undefined },
): Output {
  /** The end of the output, and those before the last calls to `append`. */
  let end = known.committed
  const ends: OutputPosition[] = []
  return {
    append(accepted) {
      ends.push(end)
      const lengths = folder.append(recordsOf(accepted))
      explained(known.path, () => fingerprints.write())
      end = { ...lengths, [FINGERPRINTS]: fingerprints.length }
      return end
    },
    sync() {
      folder.sync()
      explained(known.path, () => fingerprints.sync())
      known.note?.wrote(end)
      ends.splice(0, ends.length - MOST_TAKEN_BACK)
    },
    // What the pages said stays known: whoever has their records now has them with the same addresses.
    takeBack(appends) {
      end = ends.splice(ends.length - appends)[0] ?? end
      folder.cut(end)
    },
  }
}

function recordsOf(settlements: readonly Settlement[]): OutputRecord[] {
  return settlements.flatMap(({ record }) => (record === undefined ? [] : [record as OutputRecord]))
}

/** A folder with records, and a store that has never heard of them. */
function refuseForgotten(path: string, { isFleet, isNew, committed }: CrawlOutputOptions, disk: Disk): void {
  if (!(isFleet ? isForgotten(path, committed, disk) : isNew && hasRecords(path, { disk }))) return
  throw new TiptoeError('store', `${path} has records, but the store that knows of them is gone`, {
    hint: isFleet
      ? 'name the store and the crawl that this folder belongs to, or another folder with --out'
      : 'put the folder state/ back, or start over with --fresh',
  })
}

/** A worker's folder with records that were committed, and a store that has never heard of the worker. */
function isForgotten(path: string, committed: OutputPosition, disk: Disk): boolean {
  const before = readCommitted(path, { disk }) ?? {}
  return Object.keys(committed).length === 0 && Object.values(before).some((length) => length > 0)
}
