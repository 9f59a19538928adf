import { expect, test } from 'vitest'
import { scenarioOf, type SimReport } from '../../sim/index.ts'
import { seedWords, totalWords } from './seed-report.ts'

const scenario = scenarioOf(4711)
const report: SimReport = {
  seed: 4711,
  ok: false,
  violation: { law: 'pace', subject: 'h3.test', detail: 'pace: h3.test: asked 12 ms too early' },
  digest: '0123456789abcdef',
  trace: ['       1.000 s  ask       h3.test', '       1.988 s  ask       h3.test'],
  events: 1_234,
  steps: 99,
  openings: 2,
  simulatedMs: 65_000,
  urls: 40,
  home: 'embedded',
}

test('a seed that breaks a promise is told with the promise and the last things that happened', () => {
  const lines = seedWords(report, scenario).split('\n')
  expect(lines[0]).toBe('seed 4711: broke pace')
  expect(lines).toContain('pace: h3.test: asked 12 ms too early')
  expect(lines.slice(-2)).toEqual(report.trace.map((line) => `  ${line}`))
  expect(lines.find((line) => line.includes('digest'))).toContain(report.digest)
})

test('every fault of the scenario is named with its step', () => {
  const words = seedWords(report, { ...scenario, faults: [{ atStep: 1_200, fault: { kind: 'power' } }] })
  expect(words).toMatch(/faults +power at step 1,200/)
  expect(seedWords(report, { ...scenario, faults: [] })).toMatch(/faults +none/)
})

test('each failing seed of many is told with the command that repeats it, and no more than can be read', () => {
  const failing = Array.from({ length: 25 }, (_, index) => ({
    seed: index,
    law: 'pace',
    replay: `tiptoe simulate --seed ${index} -v`,
  }))
  const words = totalWords({ from: 0, count: 1_000, failing, events: 10, simulatedMs: 60_000, tookMs: 900 })
  expect(words).toMatch(/^1,000 seeds from 0: 25 seeds broke a promise$/m)
  expect(words).toMatch(/^ +seed 19: pace; tiptoe simulate --seed 19 -v$/m)
  expect(words).not.toContain('--seed 20 ')
  expect(words).toMatch(/^ +and 5 more; --json lists them all$/m)
})
