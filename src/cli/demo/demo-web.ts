/**
 * The web that `tiptoe demo` crawls: a dozen hosts on loopback, each of which shows one thing. It makes the web and
 * tells its story; crawling it is left to the command.
 */
import type { Clock } from '../../base/index.ts'
import { demoHosts } from './demo-hosts.ts'
import { createLoopbackWeb, type LoopbackWeb } from './loopback-web.ts'

export interface DemoWeb extends LoopbackWeb {
  /** The front page of each host. */
  readonly seeds: readonly string[]
  /** What each host shows, in one line. */
  readonly story: readonly { readonly host: string; readonly what: string }[]
}

export async function createDemoWeb(options: { readonly clock?: Clock } = {}): Promise<DemoWeb> {
  const hosts = demoHosts()
  const behaviours = Object.fromEntries(hosts.map(({ host, behaviour }) => [host, behaviour]))
  const web = await createLoopbackWeb(behaviours, options)
  return {
    ...web,
    seeds: hosts.map(({ host }) => web.url(host)),
    story: hosts.map(({ host, what }) => ({ host, what })),
  }
}
