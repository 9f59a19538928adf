/**
 * One server and one cluster that all test files of a run share, started when the first asks: a run that needs none
 * starts none. Files ask over a small HTTP server, whose address vitest hands them; see shared.ts.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import { startCluster } from './cluster.ts'
import { findRedisServer } from './find-server.ts'
import { startRedis } from './server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    redisBroker: string
  }
}

interface Running {
  readonly url: string
  close(): Promise<void>
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  try {
    // Where they are missing and can be installed, that takes longer than a test may.
    findRedisServer()
  } catch {
    // Tests that need one say so.
  }
  const starters: Readonly<Record<string, () => Promise<Running>>> = { '/single': startRedis, '/cluster': startCluster }
  const started = new Map<string, Promise<Running>>()
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    const start = starters[path]
    if (start === undefined) {
      response.writeHead(404).end()
      return
    }
    const running = started.get(path) ?? start()
    started.set(path, running)
    running.then(
      ({ url }) => response.end(url),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.message : String(error)),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  server.unref()
  project.provide('redisBroker', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return async () => {
    server.close()
    const all = await Promise.allSettled(started.values())
    await Promise.all(all.map(async (result) => (result.status === 'fulfilled' ? result.value.close() : undefined)))
  }
}
