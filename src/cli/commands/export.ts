/**
 * `tiptoe export DIR… --format FORMAT`: a crawl in another form. The crawl is not changed, and may be running: what is
 * exported is what was committed when the command began. The folders of a fleet's workers become one export; with
 * `--store` and `--crawl`, the store says how much of each counts.
 */
import { createSystemClock, formatBytes } from '../../base/index.ts'
import type { SwitchName } from '../../config/index.ts'
import {
  CSV_FIELDS,
  EXPORT_FORMATS,
  exportCrawl,
  isFolderExport,
  MAX_PART_TOKENS,
  MIN_PART_TOKENS,
  openExportSource,
  USES,
  type CommittedPositions,
  type CsvField,
  type ExportFormat,
  type ExportReport,
  type ExportRequest,
  type ExportSource,
} from '../../export/index.ts'
import type { OutputPosition } from '../../frontier/index.ts'
import { TiptoeError } from '../../model/index.ts'
import { countOf, sumOf } from '../count-words.ts'
import { EXIT } from '../exit-code.ts'
import { openFleetView } from '../fleet-view.ts'
import type { Invocation } from '../invocation.ts'
import { countList } from '../report-lines.ts'
import { countIn } from '../simulate/switch-values.ts'
import { escapeForTerminal } from '../terminal.ts'
import { typedSettings } from '../typed-settings.ts'

const STDOUT = '-'
/** What the file is called after the name of the crawl; a folder has a dash. */
const ENDINGS: Record<ExportFormat, string> = {
  wacz: '.wacz',
  csv: '.csv',
  jsonl: '.jsonl',
  text: '-text',
  markdown: '.md',
}
const DIVIDED_MARKDOWN = '-markdown'
/** The formats that each flag is for. */
const MEANT_FOR: Partial<Record<SwitchName | 'include' | 'exclude', readonly ExportFormat[]>> = {
  include: ['csv', 'jsonl', 'text', 'markdown'],
  exclude: ['csv', 'jsonl', 'text', 'markdown'],
  permitted: ['csv', 'jsonl', 'text', 'markdown'],
  duplicates: ['jsonl', 'text', 'markdown'],
  fields: ['csv'],
  'max-tokens': ['markdown'],
}

export async function exportCommand(invocation: Invocation): Promise<number> {
  const { parsed, terminal } = invocation
  const { flags, switches } = parsed
  const format = formatOf(flags.format)
  refuseStrangers(format, { ...flags, ...switches })
  const request = {
    format,
    replace: switches.force === true,
    include: listOf(flags.include),
    exclude: listOf(flags.exclude),
    duplicates: switches.duplicates === true,
    ...(switches.permitted === undefined ? {} : { permitted: oneOf(USES, switches.permitted, '--permitted') }),
    ...(switches.fields === undefined ? {} : { fields: fieldsOf(switches.fields) }),
    ...(switches['max-tokens'] === undefined ? {} : { maxTokens: tokensOf(switches['max-tokens']) }),
  }
  const isFolder = isFolderExport(request)
  const isStream = flags.out === STDOUT
  if (isStream) refuseStream(request, isFolder, switches.json === true)
  const source = await openSource(invocation)
  for (const warning of source.warnings) terminal.warn(warning)
  const named = `${source.name}${isFolder && format === 'markdown' ? DIVIDED_MARKDOWN : ENDINGS[format]}`
  const target: ExportRequest['target'] = isStream
    ? {
        write(text) {
          terminal.data(text)
          return terminal.drained()
        },
      }
    : { path: typeof flags.out === 'string' ? flags.out : named }
  const report = await exportCrawl(source, { ...request, target }, { clock: createSystemClock() })
  if (report.doubled > 0) {
    terminal.note(`left out ${countOf(report.doubled, 'record')} of which there is another, of the same page and visit`)
  }
  if (isStream) terminal.note(exportWords(report))
  else terminal.result({ ...placesOf(source), ...report }, () => escapeForTerminal(exportWords(report)))
  return EXIT.done
}

async function openSource(invocation: Invocation): Promise<ExportSource> {
  const { parsed, version } = invocation
  const { store, crawl, storeCa } = parsed.flags
  // The other flags of an export are no settings of a crawl.
  const flags = Object.fromEntries(Object.entries({ store, crawl, storeCa }).filter(([, value]) => value !== undefined))
  const named = { ...invocation, parsed: { ...parsed, flags } }
  const settings = typedSettings(named)
  if (settings.store !== undefined && settings.crawlName !== undefined) {
    const positions = storedPositions(settings.store, settings.crawlName, named)
    return openExportSource(parsed.operands, { version, positions })
  }
  if (store === undefined && crawl === undefined) return openExportSource(parsed.operands, { version })
  throw new TiptoeError('usage', '--store and --crawl go together: the store, and the name of the crawl on it')
}

/** Asks the store once, when the first folder of a worker is met. */
function storedPositions(store: string, crawl: string, invocation: Invocation): CommittedPositions {
  let outputs: Promise<ReadonlyMap<string, OutputPosition>> | undefined
  const ask = async (): Promise<ReadonlyMap<string, OutputPosition>> => {
    const { inspector } = await openFleetView(store, invocation)
    try {
      return await inspector.outputs()
    } finally {
      await inspector.close()
    }
  }
  return {
    crawl,
    async positionOf(worker) {
      outputs ??= ask()
      return (await outputs).get(worker) ?? {}
    },
  }
}

function placesOf({ folders }: ExportSource): { folder: string } | { folders: string[] } {
  const [only, ...others] = folders.map(({ path }) => path)
  return others.length === 0 ? { folder: only ?? '' } : { folders: [only ?? '', ...others] }
}

function formatOf(raw: unknown): ExportFormat {
  const [format, ...others] = listOf(raw)
  if (format === undefined) {
    throw new TiptoeError('usage', 'tiptoe export needs a format', {
      hint: `--format is one of ${EXPORT_FORMATS.join(', ')}`,
    })
  }
  if (others.length > 0) throw new TiptoeError('usage', 'tiptoe export writes one format at a time')
  return oneOf(EXPORT_FORMATS, format, '--format')
}

function listOf(raw: unknown): string[] {
  return Array.isArray(raw) ? raw.map(String) : []
}

function oneOf<T extends string>(choices: readonly T[], raw: string, flag: string): T {
  const choice = choices.find((each) => each === raw)
  if (choice !== undefined) return choice
  throw new TiptoeError('usage', `${flag}: expected one of ${choices.join(', ')}; found ${JSON.stringify(raw)}`)
}

function fieldsOf(raw: string): CsvField[] {
  const names = raw.split(/[\s,]+/).filter(Boolean)
  if (names.length === 0) throw new TiptoeError('usage', '--fields: expected at least one field; found nothing')
  return names.map((name) => oneOf(CSV_FIELDS, name, '--fields'))
}

function tokensOf(raw: string): number {
  return countIn(raw, '--max-tokens', { least: MIN_PART_TOKENS, most: MAX_PART_TOKENS })
}

/** A flag that would do nothing is a mistake, and so is an archive from which something is missing. */
function refuseStrangers(format: ExportFormat, given: Readonly<Record<string, unknown>>): void {
  for (const [flag, formats] of Object.entries(MEANT_FOR)) {
    if (given[flag] === undefined || formats.includes(format)) continue
    throw new TiptoeError('usage', `--${flag} is not for ${format}`, { hint: `it is for ${formats.join(', ')}` })
  }
}

function refuseStream({ format }: { format: ExportFormat }, isFolder: boolean, isJson: boolean): void {
  if (isFolder) throw new TiptoeError('usage', `${format} is written as a folder, and cannot go to standard output`)
  if (format === 'wacz') throw new TiptoeError('usage', 'a WACZ file cannot go to standard output')
  if (isJson) throw new TiptoeError('usage', '--json and -o - cannot both have standard output')
}

function exportWords({ path, format, files, bytes, pages, leftOut }: ExportReport): string {
  const many = files === 1 ? '' : ` in ${countOf(files, 'file')}`
  const others = sumOf(leftOut) === 0 ? '' : `; left out: ${countList(leftOut)}`
  return `wrote ${path ?? format}: ${countOf(pages, 'page')}${many}, ${formatBytes(bytes)}${others}`
}
