/**
 * Webs and folders for tests that run side by side, since each mostly waits for a process: what they open is closed at
 * the end of their file.
 */
import { afterAll } from 'vitest'
import { createLoopbackWeb, type Answer, type HostBehaviour, type LoopbackWeb } from './loopback-web.ts'
import { temporaryFolder } from './program.ts'

export interface SideBySide {
  webOf(hosts: Readonly<Record<string, HostBehaviour>>): Promise<LoopbackWeb>
  newFolder(): string
  /** Done at the end, the last one first. */
  atEnd(close: () => unknown): void
}

export function sideBySide(): SideBySide {
  const closers: (() => unknown)[] = []
  afterAll(async () => {
    for (const close of closers.reverse()) await close()
  })
  return {
    async webOf(hosts) {
      const web = await createLoopbackWeb(hosts)
      closers.push(() => web.close())
      return web
    },
    newFolder() {
      const folder = temporaryFolder()
      closers.push(folder.remove)
      return folder.path
    },
    atEnd: (close) => void closers.push(close),
  }
}

/** A page of a few words with these links. */
export const page = (...links: readonly string[]): Answer => ({
  body: `<!doctype html><title>Page</title><p>Words.</p>${links.map((link) => `<a href="${link}">on</a>`).join('')}`,
})
