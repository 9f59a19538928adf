import { prepareCrawlFolder } from '../../engine/index.ts'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { resolveSettings } from '../../config/index.ts'
import { createFrontier } from '../../frontier/index.ts'
import type { NormalizedUrl } from '../../model/index.ts'
import type { LoopbackWeb } from '../demo/index.ts'
import { flagsFor, runCommand } from '../test-support/run-command.ts'
import { createSmallTown } from '../test-support/small-town.ts'

const root = mkdtempSync(join(tmpdir(), 'tiptoe-status-'))
const finished = join(root, 'finished')
let web: LoopbackWeb

beforeAll(async () => {
  web = await createSmallTown()
  const flags = ['--delay', '5ms', '--fail-on', '100%', '-o', finished, ...flagsFor(web)]
  await runCommand([web.url('a.test'), web.url('b.test'), ...flags])
})
afterAll(async () => {
  await web.close()
  rmSync(root, { recursive: true })
})

describe('tiptoe status', () => {
  test('tells a finished crawl by its counters', async () => {
    const ran = await runCommand(['status', finished, '--json'])
    expect(ran.code).toBe(0)
    expect(ran.json()).toMatchObject({
      working: false,
      closedInOrder: true,
      state: 'finished',
      urls: { discovered: 11, queued: 0, done: 8, failed: 1, skipped: { robots: 1, redirect: 1 } },
      tiers: {
        high: { queued: 0, requests: 0, share: 0, quota: 0.4 },
        medium: { queued: 0, requests: 14, share: 1, quota: 0.4 },
        low: { queued: 0, requests: 0, share: 0, quota: 0.2 },
      },
      bloomFalsePositives: expect.any(Number),
      hosts: { known: 2, due: 0, pausing: 0, blocked: 0, idle: 2 },
      robots: { rules: 1, 'allow-all': 1 },
      requests: { page: 10, sitemap: 2, robots: 2 },
      leftAlone: { count: 0, hosts: [] },
      inTrouble: { count: 0, hosts: [] },
      politeness: { requests: 14, violations: 0, closest: { host: expect.stringMatching(/\.test$/) } },
      next: [],
    })
    const { stdout } = await runCommand(['status', finished])
    expect(stdout).toContain('finished; no process is working on it')
    expect(stdout).toMatch(
      /tiers +high: 0 queued, 0 requests\n +medium: 0 queued, 14 requests \(100%, quota 40%\)\n +low: 0 queued/,
    )
    expect(stdout).toMatch(/filter +\d+ false positives?/)
    expect(stdout).toMatch(
      /politeness +14 requests watched, no violation\n +closest: [ab]\.test, [\d.]+ ms later than required/,
    )
    expect(stdout).not.toContain('in trouble')
    expect(stdout).toMatch(/skipped +2 \(1 re?\w+, 1 r\w+\)/)
  })

  test('tells what an open crawl waits for, that a process works on it, and that the last one was killed', async () => {
    const folder = join(root, 'open')
    const { settings } = resolveSettings({ version: '0.0.0', flags: { maxPages: 7 } })
    const seed = 'https://example.test/' as NormalizedUrl
    prepareCrawlFolder(folder, { settings, seeds: [seed] }, undefined)
    await expect(runCommand(['status', folder])).rejects.toThrow('never begun')
    const frontier = createFrontier({ store: join(folder, 'state') })
    await frontier.add([{ url: seed, kind: 'page', depth: 0, via: 'seed' }])
    await frontier.host('example.test' as never, { blockedUntil: 4e12, blockedReason: 'HTTP \u001b[2J503' })
    const health = { strikes: 1, streak: -2, streakSince: 1e12, blockedAt: 1e12, latencyMs: 0 }
    await frontier.host('example.test' as never, { health })
    const live = await runCommand(['status', folder])
    expect(live.stdout).toContain('not finished, and a process is working on it now')
    expect(live.stdout).toMatch(/next\n {2}example\.test in \d+d \d+h \(left alone: HTTP \\x1b\[2J503\)/)
    expect(live.stdout).toMatch(/left alone +example\.test, asked again in \d+d \d+h: HTTP \\x1b\[2J503/)
    expect(live.stdout).toMatch(/in trouble +example\.test refused or failed its last 2 requests, since 2001-09-09/)
    expect(live.stdout).toMatch(/politeness +0 requests watched, no violation$/m)
    expect((await runCommand(['status', folder, '--json'])).json()).toMatchObject({
      leftAlone: { count: 1, hosts: [{ host: 'example.test', until: new Date(4e12).toISOString() }] },
      inTrouble: { count: 1, hosts: [{ host: 'example.test', times: 2, since: new Date(1e12).toISOString() }] },
      working: true,
      state: 'open',
      maxPages: 7,
      hosts: { known: 1, blocked: 1, pausing: 0 },
      robots: { unread: 1 },
      next: [{ host: 'example.test', at: new Date(4e12).toISOString() }],
    })
    await frontier.close()
    const db = new DatabaseSync(join(folder, 'state', 'crawl.db'))
    db.exec("UPDATE meta SET value = 0 WHERE key = 'clean'")
    db.close()
    expect((await runCommand(['status', folder])).stdout).toContain('did not close it in order')
  })

  test('refuses a folder without a crawl, with a hint', async () => {
    mkdirSync(join(root, 'empty'))
    await expect(runCommand(['status', join(root, 'empty')])).rejects.toMatchObject({
      code: 'usage',
      hint: expect.stringContaining('output folder'),
    })
  })
})
