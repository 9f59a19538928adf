import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { runCommand } from '../test-support/run-command.ts'

describe('tiptoe config', () => {
  test('prints the resolved configuration as a file that reads back', async () => {
    const ran = await runCommand(['config', 'https://example.com/', '--delay', '200ms'], { TIPTOE_MAX_PAGES: '7' })
    expect(parse(ran.stdout)).toMatchObject({
      seeds: ['https://example.com/'],
      crawler: { rate_limiting: { default_delay: '200ms' }, limits: { max_pages: 7 } },
    })
    expect(ran.code).toBe(0)
  })

  test('says where each value came from', async () => {
    const ran = await runCommand(['config', '--explain', '--delay', '200ms'], { TIPTOE_MAX_PAGES: '7' })
    expect(ran.stdout).toMatch(/default_delay +200ms +flag --delay/)
    expect(ran.stdout).toMatch(/max_pages +7 +env TIPTOE_MAX_PAGES/)
    const json = await runCommand(['config', '--explain', '--json', '--delay', '200ms'])
    expect(json.json()).toMatchObject({
      settings: { delayMs: 200 },
      sources: { delay: 'flag --delay', scope: 'default' },
    })
    expect((await runCommand(['config', '--json'])).json()).toMatchObject({ delayMs: 1000 })
  })

  test('prints the JSON Schema, and answers one question at a time', async () => {
    expect((await runCommand(['config', '--schema'])).json()).toMatchObject({ properties: { crawler: {} } })
    await expect(runCommand(['config', '--schema', '--explain'])).rejects.toMatchObject({ code: 'usage' })
  })
})
