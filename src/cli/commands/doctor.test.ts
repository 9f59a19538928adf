import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createSystemClock } from '../../base/index.ts'
import { runCommand } from '../test-support/run-command.ts'
import { checkFiles, checkFolder, checkMemory, checkNode, checkTime, type Check } from './doctor.ts'

const root = mkdtempSync(join(tmpdir(), 'tiptoe-doctor-test-'))
afterAll(() => rmSync(root, { recursive: true }))

describe('tiptoe doctor', () => {
  test('finds that the machine which runs the tests can crawl', async () => {
    const ran = await runCommand(['doctor', '--json'])
    const checks = ran.json() as unknown as Check[]
    expect(checks.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['node', 'sqlite', 'folder', 'disk', 'files', 'memory', 'clock', 'protocols', 'dns']),
    )
    expect(checks.filter(({ state }) => state === 'problem')).toEqual([])
    expect(ran.code).toBe(0)
    expect((await runCommand(['doctor'])).stdout).toMatch(/^ok +node +\d+\.\d+\.\d+$/m)
  })

  test('leaves nothing behind in a folder that it tries, and tells one that cannot be written to', async () => {
    const clock = createSystemClock()
    expect((await checkFolder(root, clock))[0]).toMatchObject({ state: 'ok' })
    expect(readdirSync(root)).toEqual([])
    const missing = join(root, 'missing')
    expect(await checkFolder(missing, clock)).toMatchObject([
      { state: 'problem', hint: expect.stringContaining('--out') },
    ])
    expect(existsSync(missing)).toBe(false)
  })

  test.each([
    [checkNode('22.18.9'), 'problem'],
    [checkNode('22.19.0'), 'ok'],
    [checkNode('24.0.0'), 'ok'],
    [checkFiles(64, 20), 'problem'],
    [checkFiles(256, 20), 'warning'],
    [checkFiles(1024, 20), 'ok'],
    [checkFiles(1024, 1000), 'problem'],
    [checkFiles(Infinity, 1000), 'ok'],
    [checkFiles(undefined, 20), 'ok'],
    [checkMemory(100e6), 'warning'],
    [checkMemory(4e9), 'ok'],
    [checkTime(0), 'problem'],
    [checkTime(Date.UTC(2026, 10, 15)), 'ok'],
  ])('judges %o', (check, state) => {
    expect(check.state).toBe(state)
    expect(check.hint === undefined).toBe(state === 'ok')
  })
})
