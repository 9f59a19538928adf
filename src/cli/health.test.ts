import { expect, onTestFinished, test } from 'vitest'
import { serveHealth } from './health.ts'

async function serve() {
  let ready = true
  const report = () => ({ role: 'worker', crawl: 'news', id: 'w1', ready, inFlight: 3 }) as const
  const server = await serveHealth('127.0.0.1:0', report)
  onTestFinished(() => server.close())
  const get = (path: string, init?: RequestInit) => fetch(`http://${server.address}${path}`, init)
  return { server, get, lose: () => (ready = false) }
}

test('a process is healthy for as long as it answers, and ready only while its store can be reached', async () => {
  const { get, lose } = await serve()
  expect([(await get('/healthz')).status, (await get('/readyz')).status]).toEqual([200, 200])
  lose()
  const [health, readiness] = [await get('/healthz'), await get('/readyz')]
  expect([health.status, readiness.status]).toEqual([200, 503])
  expect(await readiness.json()).toEqual({
    status: 'store out of reach',
    role: 'worker',
    crawl: 'news',
    id: 'w1',
    ready: false,
    inFlight: 3,
  })
})

test('nothing else is served', async () => {
  const { get } = await serve()
  expect([(await get('/')).status, (await get('/healthz', { method: 'POST' })).status]).toEqual([404, 405])
})

test('a port that is taken is told, with what to do', async () => {
  const { server } = await serve()
  const report = () => ({ role: 'worker', crawl: 'news', id: 'w2', ready: true }) as const
  await expect(serveHealth(server.address, report)).rejects.toMatchObject({
    code: 'network',
    message: expect.stringContaining('EADDRINUSE'),
  })
})
