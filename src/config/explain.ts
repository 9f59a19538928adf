/** Where each value came from, as `tiptoe config --explain` prints it. */
import { OPTIONS } from './options.ts'
import type { Resolved } from './resolve.ts'

/** One line for each option: its key, its value, its source. */
export function explainSettings({ settings, sources }: Resolved): string {
  const rows = OPTIONS.map((option) => {
    const value = settings[option.setting]
    const written = value === undefined ? 'none' : option.kind.write(value)
    const text = typeof written === 'string' ? written : JSON.stringify(plain(written))
    return [option.path, text, sources[option.name]] as const
  })
  const keyWidth = Math.max(...rows.map(([key]) => key.length))
  const valueWidth = Math.min(40, Math.max(...rows.map(([, value]) => value.length)))
  return `${rows.map(([key, value, source]) => `${key.padEnd(keyWidth)}  ${value.padEnd(valueWidth)}  ${source}`).join('\n')}\n`
}

function plain(written: unknown): unknown {
  return written instanceof Map ? Object.fromEntries(written) : written
}
