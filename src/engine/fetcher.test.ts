import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createSystemClock } from '../base/index.ts'
import { resolveSettings, toCrawlYaml, type Settings } from '../config/index.ts'
import type { NormalizedUrl } from '../model/index.ts'
import { createFetcherOf } from './fetcher.ts'

const settingsOf = (headers: readonly string[]): Settings =>
  resolveSettings({ version: '1', flags: { headers, cookies: true, allowAddress: ['127.0.0.0/8'] } }).settings

async function serveEcho(): Promise<string> {
  const server = createServer(({ headers }, response) => {
    response.setHeader('set-cookie', 'sid=1').end(JSON.stringify([headers['x-key'], headers.cookie]))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('secrets come from the environment, and cookies are kept, when settings ask for it', async () => {
  const origin = await serveEcho()
  const settings = settingsOf([`${origin} X-Key: Token $SECRET`])
  const fetcher = createFetcherOf(settings, { clock: createSystemClock(), environment: { SECRET: 'abc' } })
  onTestFinished(() => fetcher.close())
  const ask = async (): Promise<unknown> => {
    const outcome = await fetcher.fetch({ url: `${origin}/` as NormalizedUrl })
    return outcome.kind === 'response' ? JSON.parse(new TextDecoder().decode(outcome.body)) : outcome
  }
  expect(await ask()).toEqual(['Token abc', null])
  expect(await ask()).toEqual(['Token abc', 'sid=1'])
})

test('a variable that is not set, and a secret that was not kept, are wrong usage', () => {
  const clock = createSystemClock()
  const usage = expect.objectContaining({ code: 'usage' })
  expect(() => createFetcherOf(settingsOf(['https://a.test X: $SECRET']), { clock, environment: {} })).toThrow(usage)
  const stored = { path: 'crawl.yaml', text: toCrawlYaml(settingsOf(['https://a.test X: abc'])) }
  const resumed = resolveSettings({ version: '1', stored }).settings
  expect(() => createFetcherOf(resumed, { clock, environment: {} })).toThrow(usage)
})
