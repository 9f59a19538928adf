import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { CrawlEvents } from '../model/index.ts'
import { createEventBus } from '../telemetry/index.ts'
import { tellAlarms } from './alarms.ts'
import { createTerminal } from './terminal.ts'

test('alarms are errors that even a quiet crawl prints, the first few in full', () => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const terminal = createTerminal({ stdout, stderr, env: {}, quiet: true, verbose: false, json: false })
  const events = createEventBus<CrawlEvents>()
  const counts = tellAlarms(events, terminal)
  const detail = 'asked 812 ms after its answer, with a delay of 1 s'
  for (let round = 0; round < 30; round++) {
    events.emit('impolite', { host: 'a.test' as never, kind: 'pace', at: 0, detail })
  }
  const lines = String(stderr.read()).trimEnd().split('\n')
  expect(lines.slice(0, 3)).toEqual([
    `error: impolite to a.test (pace): ${detail}`,
    'hint: this must never happen and is a fault of Tiptoe; please report it with these lines',
    `error: impolite to a.test (pace): ${detail}`,
  ])
  expect(lines).toHaveLength(12)
  expect(lines.at(-1)).toBe('error: more such requests were made; the summary has their number')
  expect(stdout.read()).toBeNull()
  expect(counts).toEqual({ impolite: 30 })
})
