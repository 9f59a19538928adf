/** A program as a child process: how long it took, what it used, and what it says when it fails. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { SITE } from './site.ts'

export const REPOSITORY = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
export const LAUNCHER = 'bin/tiptoe.mjs'
const USAGE = pathToFileURL(join(REPOSITORY, 'bench/support/usage.ts')).href

export interface Usage {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly peakBytes: number
}

/** Runs a script with this Node and these variables besides; `watch` is given the process while it runs. */
export async function runScript(
  script: string,
  words: readonly string[],
  options: {
    readonly node?: readonly string[]
    readonly env?: Readonly<Record<string, string>>
    watch?(child: ChildProcess): void
  } = {},
): Promise<Usage> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-usage-'))
  try {
    const usageFile = join(folder, 'usage.json')
    const started = performance.now()
    const child = spawn(
      process.execPath,
      ['--import', USAGE, ...(options.node ?? []), join(REPOSITORY, script), ...words],
      { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, ...options.env, USAGE_FILE: usageFile } },
    )
    options.watch?.(child)
    const [code] = (await once(child, 'exit')) as [number | null]
    const seconds = (performance.now() - started) / 1_000
    if (code !== 0) throw new Error(`${script} ended with ${code}`)
    return { seconds, ...(JSON.parse(readFileSync(usageFile, 'utf8')) as Omit<Usage, 'seconds'>) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A crawl of the generated site as fast as it goes: it is our own server, and no delay is asked for. */
export function crawlWords(port: number, folder: string, format: string): string[] {
  const flags = {
    out: folder,
    format,
    resolve: `${SITE}:${port}:127.0.0.1`,
    'allow-address': '127.0.0.0/8',
    delay: '0',
    'per-host': '20',
    concurrency: '20',
  }
  return [
    `http://${SITE}:${port}/`,
    '--quiet',
    ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]),
  ]
}
