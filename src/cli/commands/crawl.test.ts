import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { flagsFor, runCommand } from '../test-support/run-command.ts'
import { createSmallTown } from '../test-support/small-town.ts'

test('the command that resumes a crawl is the one that was typed, ready for a shell', async () => {
  const web = await createSmallTown()
  const root = mkdtempSync(join(tmpdir(), 'tiptoe crawl-'))
  onTestFinished(async () => {
    await web.close()
    rmSync(root, { recursive: true })
  })
  const words = [web.url('a.test'), '--delay', '10s', '--max-time', '100ms', ...flagsFor(web)]
  const out = join(root, 'out')
  const ran = await runCommand([...words, '-o', out, '--fresh'], { npm_lifecycle_event: 'npx' })
  const shown = words.map((word) => (word.includes('*') ? `'${word}'` : word))
  expect(ran.stderr.trimEnd().split('\n').at(-1)).toBe(`npx tiptoe ${shown.join(' ')} -o '${out}'`)
  expect(ran.code).toBe(4)
})
