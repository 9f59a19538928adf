/**
 * `tiptoe demo`: a small web on loopback, and the crawler at work on it, told so that a newcomer sees what matters. The
 * proof of politeness is not the crawler's word but the log of the servers.
 */
import { clearCrawlFolder, prepareCrawlFolder, readCrawlFolder } from '../../engine/index.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSystemClock } from '../../base/index.ts'
import { resolveSettings, type Settings } from '../../config/index.ts'
import { TiptoeError, type NormalizedUrl } from '../../model/index.ts'
import { hostKey } from '../../url/index.ts'
import { brokenPromises, noticeLines, storyLines, visitsOf, visitWords } from '../demo-report.ts'
import { createDemoWeb, type DemoWeb } from '../demo/index.ts'
import { EXIT } from '../exit-code.ts'
import type { Invocation } from '../invocation.ts'
import { programName } from '../program-name.ts'
import { escapeForTerminal, paint } from '../terminal.ts'
import { runCrawl } from './crawl.ts'

/** Where the demo's hosts are. */
const LOOPBACK = '127.0.0.0/8'
/** All of them are below this name. */
const DEMO_DOMAIN = '.demo.test'

export async function demoCommand(invocation: Invocation): Promise<number> {
  const { parsed, terminal, version } = invocation
  const typed = resolveSettings({ version, flags: parsed.flags }).settings.outDirectory
  const folder = typed ?? mkdtempSync(join(tmpdir(), 'tiptoe-demo-'))
  const web = await createDemoWeb({ clock: createSystemClock() })
  try {
    const settings = demoSettings(web, version)
    const seeds = web.seeds as readonly NormalizedUrl[]
    makeRoom(folder, version)
    prepareCrawlFolder(folder, { settings, seeds }, undefined)
    terminal.report(storyLines(web, terminal.columns, terminal.color))
    const { json: _json, ...switches } = parsed.switches
    const quietly = { ...invocation, parsed: { ...parsed, switches } }
    const code = await runCrawl({ settings, seeds, folder }, quietly, {
      resumeCommand: `${programName(invocation.env)} demo`,
    })
    if (code === EXIT.interrupt || code === EXIT.terminate) return code
    const visits = web.story.map(({ host }) => visitsOf(web.log, host))
    terminal.report(['', paint(terminal.color, 'strong', 'What the servers saw (times from their own logs)')])
    terminal.result({ folder: typed ?? null, hosts: visits }, () => visitWords(visits))
    await terminal.drained()
    const broken = brokenPromises(web.log, visits)
    for (const promise of broken) terminal.error(promise, 'please report this, with the lines above')
    if (broken.length > 0) return EXIT.failures
    terminal.report(noticeLines(web.log, visits, terminal.columns, terminal.color))
    terminal.report(furtherLines(typed, web, programName(invocation.env)))
    return code
  } finally {
    await web.close()
    if (typed === undefined) rmSync(folder, { recursive: true, force: true })
  }
}

function demoSettings(web: DemoWeb, version: string): Settings {
  const flags = { scope: 'host', resolve: web.resolveFlags(), allowAddress: [LOOPBACK], failOn: '100%' }
  return resolveSettings({ version, flags }).settings
}

/** A demo is never resumed, since its web is gone, ports and all. Any other crawl is not ours to remove. */
function makeRoom(folder: string, version: string): void {
  const stored = readCrawlFolder(folder, version)
  if (stored === undefined) return
  if (!stored.seeds.every((seed) => hostKey(seed).endsWith(DEMO_DOMAIN))) {
    throw new TiptoeError('usage', `${folder} holds a crawl that is not the demo's`, {
      hint: 'choose another folder with --out',
    })
  }
  clearCrawlFolder(folder)
}

function furtherLines(kept: string | undefined, web: DemoWeb, program: string): string[] {
  if (kept === undefined)
    return ['The results are gone again; to keep them and look around:', `  ${program} demo -o demo`]
  const commands = [
    `${program} status ${kept}`,
    `${program} audit ${kept}`,
    `${program} why ${web.url('private.demo.test', '/private/diary')} ${kept}`,
  ]
  return ['Look further:', ...commands.map((command) => `  ${escapeForTerminal(command)}`)]
}
