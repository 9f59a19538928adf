/** That what a promise costs can be measured: what the benchmark says it takes away is there to be taken away. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const SCRIPT = join(import.meta.dirname, '..', '..', 'bench', 'crawl.ts')

it('measures a crawl without each part that no option switches off', () => {
  const printed = execFileSync(process.execPath, [SCRIPT, '20', '1', '--without', 'durability,simhash,audit'], {
    encoding: 'utf8',
  })
  for (const part of ['durability', 'simhash', 'audit']) expect(printed).toMatch(new RegExp(`^\\| ${part} `, 'm'))
})
