/**
 * `tiptoe doctor`: whether this machine can crawl, one line for each thing that a crawl stands on; with `--store` also
 * whether the crawl can be kept there, and what it can count on. Exit 3 on a problem.
 */
import { lookup } from 'node:dns/promises'
import { mkdtempSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSystemClock, formatBytes, formatDuration, type Clock } from '../../base/index.ts'
import { concurrentFetches, type Settings } from '../../config/index.ts'
import { createFrontier } from '../../frontier/index.ts'
import { EXIT } from '../exit-code.ts'
import type { Invocation } from '../invocation.ts'
import { escapeForTerminal, padToWidth } from '../terminal.ts'
import { typedSettings } from '../typed-settings.ts'

const NODE_NEEDED = [22, 19] as const
const DISK_LEAST_BYTES = 50_000_000
const DISK_ENOUGH_BYTES = 1_000_000_000
const MEMORY_ENOUGH_BYTES = 300_000_000
/** Connections kept open to as many origins, as the fetcher has it, and files of our own. */
const KEPT_CONNECTIONS = 512
const OWN_FILES = 64
/** A name that exists for exactly this (RFC 2606 §3). */
const PUBLIC_NAME = 'example.com'
const DNS_PATIENCE_MS = 5_000
/** No clock that is right shows an earlier time than the first release. */
const EARLIEST_TIME = Date.UTC(2026, 0, 1)
const LATEST_TIME = Date.UTC(2100, 0, 1)
/** A folder on another machine has that machine's time. */
const CLOCK_APART_MS = 60_000

export interface Check {
  readonly name: string
  readonly state: 'ok' | 'warning' | 'problem'
  readonly detail: string
  readonly hint?: string
}

export async function doctorCommand(
  invocation: Invocation,
  names: (name: string) => Promise<{ address: string }> = lookup,
): Promise<number> {
  const { terminal, env } = invocation
  const clock = createSystemClock()
  const settings = typedSettings(invocation)
  const slots = concurrentFetches(settings)
  const folder = await checkFolder(process.cwd(), clock)
  const checks = [
    checkNode(process.versions.node),
    { name: 'sqlite', state: 'ok', detail: process.versions['sqlite'] ?? 'built in' } as const,
    ...folder,
    checkFiles(openFilesLimit(), slots),
    checkMemory(process.availableMemory()),
    checkTime(clock.wall()),
    checkProtocols(process.versions),
    await checkNames(names, clock),
    ...(await checkStore(settings, env['TIPTOE_STORE_PASSWORD'], clock)),
  ]
  terminal.result(checks, () => checks.map(checkWords).join('\n'))
  return checks.some(({ state }) => state === 'problem') ? EXIT.environment : EXIT.done
}

function checkWords({ name, state, detail, hint }: Check): string {
  const line = `${padToWidth(state, 8)} ${padToWidth(name, 10)} ${escapeForTerminal(detail)}`
  return hint === undefined ? line : `${line}\n${' '.repeat(20)}hint: ${escapeForTerminal(hint)}`
}

export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [neededMajor, neededMinor] = NODE_NEEDED
  const recent = major > neededMajor || (major === neededMajor && minor >= neededMinor)
  if (recent) return { name: 'node', state: 'ok', detail: version }
  const hint = `install Node ${NODE_NEEDED.join('.')} or newer`
  return { name: 'node', state: 'problem', detail: `${version} is too old`, hint }
}

/** Writing, and opening a store as a crawl does: some network folders cannot do the locking that it needs. */
export async function checkFolder(folder: string, clock: Clock): Promise<Check[]> {
  let trial: string | undefined
  try {
    trial = mkdtempSync(join(folder, '.tiptoe-doctor-'))
    const probe = join(trial, 'probe')
    writeFileSync(probe, 'x', { flush: true })
    const apartMs = Math.abs(statSync(probe).mtimeMs - clock.wall())
    await createFrontier({ store: join(trial, 'state') }).close()
    const apart: Check[] =
      apartMs <= CLOCK_APART_MS
        ? []
        : [
            {
              name: 'folder',
              state: 'warning',
              detail: `its clock is ${formatDuration(apartMs)} from this machine's`,
              hint: 'set both clocks by NTP',
            },
          ]
    return [{ name: 'folder', state: 'ok', detail: `${folder} can be written to` }, checkSpace(folder), ...apart]
  } catch (error) {
    const detail = `${folder} cannot hold a crawl: ${error instanceof Error ? error.message : String(error)}`
    return [{ name: 'folder', state: 'problem', detail, hint: 'go to another folder, or choose one with --out' }]
  } finally {
    if (trial !== undefined) rmSync(trial, { recursive: true, force: true })
  }
}

function checkSpace(folder: string): Check {
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const detail = `${formatBytes(free)} free`
  const hint = 'make room: a crawl that fills the disk stops there, and resumes when there is room again'
  if (free < DISK_LEAST_BYTES) return { name: 'disk', state: 'problem', detail, hint }
  return free < DISK_ENOUGH_BYTES
    ? { name: 'disk', state: 'warning', detail, hint }
    : { name: 'disk', state: 'ok', detail }
}

/** How many files this process may have open; undefined where the system does not say. */
function openFilesLimit(): number | undefined {
  const { report } = process
  // Interfaces are named by asking the name server, which is none of this check's business.
  ;(report as { excludeNetwork?: boolean }).excludeNetwork = true
  const limits = (report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } }).userLimits
  const soft = limits?.open_files?.soft
  return soft === 'unlimited' ? Infinity : soft === undefined ? undefined : Number(soft)
}

export function checkFiles(limit: number | undefined, slots: number): Check {
  if (limit === undefined) return { name: 'files', state: 'ok', detail: 'the system names no limit' }
  const detail = limit === Infinity ? 'no limit' : `${limit} may be open at once, for ${slots} fetches at once`
  const hint = 'raise it: ulimit -n 4096'
  if (limit < slots + OWN_FILES) return { name: 'files', state: 'problem', detail, hint }
  const enough = slots + OWN_FILES + KEPT_CONNECTIONS
  return limit < enough ? { name: 'files', state: 'warning', detail, hint } : { name: 'files', state: 'ok', detail }
}

export function checkMemory(available: number): Check {
  const detail = `${formatBytes(available)} available`
  if (available >= MEMORY_ENOUGH_BYTES) return { name: 'memory', state: 'ok', detail }
  return { name: 'memory', state: 'warning', detail, hint: 'a crawl takes up to 300 MB; use a lower --concurrency' }
}

export function checkTime(wall: number): Check {
  const detail = new Date(wall).toISOString()
  if (wall > EARLIEST_TIME && wall < LATEST_TIME) return { name: 'clock', state: 'ok', detail }
  const hint = 'set the clock: certificates and records depend on it'
  return { name: 'clock', state: 'problem', detail: `${detail} cannot be right`, hint }
}

function checkProtocols(versions: NodeJS.ProcessVersions): Check {
  const { nghttp2, zstd, brotli } = versions as NodeJS.ProcessVersions & { zstd?: string; brotli?: string }
  const parts = { 'HTTP/2': nghttp2, br: brotli, zstd }
  const missing = Object.entries(parts).flatMap(([name, version]) => (version === undefined ? [name] : []))
  if (missing.length === 0)
    return { name: 'protocols', state: 'ok', detail: 'HTTP/1.1, HTTP/2; gzip, deflate, br, zstd' }
  const detail = `this Node has no ${missing.join(', ')}`
  return { name: 'protocols', state: 'warning', detail, hint: 'use the Node that comes with tiptoe' }
}

async function checkNames(names: (name: string) => Promise<{ address: string }>, clock: Clock): Promise<Check> {
  const hint = 'crawling needs the network; tiptoe demo does not'
  let cancel = (): void => {}
  const late = new Promise<Check>((resolve) => {
    const detail = `no name server answered within ${formatDuration(DNS_PATIENCE_MS)}`
    cancel = clock.timer(DNS_PATIENCE_MS, () => resolve({ name: 'dns', state: 'warning', detail, hint }))
  })
  const found = names(PUBLIC_NAME).then(
    ({ address }): Check => ({ name: 'dns', state: 'ok', detail: `${PUBLIC_NAME} is ${address}` }),
    (error: Error): Check => ({ name: 'dns', state: 'warning', detail: error.message, hint }),
  )
  const check = await Promise.race([found, late])
  cancel()
  return check
}

/** Nothing, when the crawl is kept in a folder. */
async function checkStore(
  { store, storeCaFile }: Pick<Settings, 'store' | 'storeCaFile'>,
  password: string | undefined,
  clock: Clock,
): Promise<Check[]> {
  if (store === undefined) return []
  // Only who names a store waits for this to be read.
  const { examineStore } = await import('../store-check.ts')
  return examineStore({ store, password, caFile: storeCaFile }, clock)
}
