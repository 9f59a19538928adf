/**
 * A fleet as people run it, with real servers, when something befalls the store or a worker. The web's own log says whether
 * a host was asked too early, the workers' files whether every page was kept once, and `audit` whether the store agrees.
 * State that is lost is told by everybody, and never taken for a finished crawl.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLoopbackWeb, smallestGapMs, type HostBehaviour, type LoopbackWeb } from '../support/loopback-web.ts'
import { reach, runTiptoe, startTiptoe, temporaryFolder, type Ending, type Program } from '../support/program.ts'
import { startCluster } from '../support/redis/cluster.ts'
import { createFaultyProxy, type FaultyProxy } from '../support/redis/faulty-proxy.ts'
import { startRedis } from '../support/redis/server.ts'
import { until } from '../support/redis/until.ts'

const DELAY_MS = 150
/** The shortest there is: how long the hosts of a worker that is lost are left alone. */
const LEASE = ['--lease-time', '5s', '--timeout', '10s']
const PATIENCE_MS = 60_000

const closing: (() => unknown)[] = []
let folder: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
  folder.remove()
})
/** Is closed at the end of the test, before whatever was opened earlier. */
function own<T extends { close(): unknown }>(opened: T): T {
  closing.push(() => opened.close())
  return opened
}

/** Hosts that link to each other's pages, and to a few of their own. */
async function webOf(hosts: number, pages: number): Promise<LoopbackWeb> {
  const name = (index: number): string => `h${index % hosts}.test`
  const behaviour =
    (host: number): HostBehaviour =>
    ({ path, url }) => {
      if (path === '/robots.txt') return { body: 'User-agent: *\nDisallow: /no\n' }
      const page = path === '/' ? 0 : Number(path.slice(2))
      if (!(page >= 0 && page < pages)) return { status: 404 }
      const links = [1, 2, 3].map((step) => `/p${(page * 3 + step) % pages}`)
      const others = [1, 2].map((step) => url(name(host * 7 + page + step), `/p${(page + step) % pages}`))
      const anchors = [...links, ...others].map((link) => `<a href="${link}">on</a>`).join(' ')
      return { body: `<!doctype html><title>${page}</title><p>Page ${page} of ${host}.</p>${anchors}` }
    }
  const all = Array.from({ length: hosts }, (_, host) => [name(host), behaviour(host)] as const)
  return own(await createLoopbackWeb(Object.fromEntries(all)))
}

class Fleet {
  readonly web: LoopbackWeb
  readonly store: string
  readonly workers: Program[] = []
  coordinator: Program | undefined

  constructor(web: LoopbackWeb, store: string) {
    this.web = web
    this.store = store
  }
  async seed(...more: string[]): Promise<void> {
    const seeds = join(folder.path, 'seeds.txt')
    const hosts = this.web.resolveFlags().map((flag) => flag.split(':')[0] as string)
    writeFileSync(seeds, hosts.map((host) => this.web.url(host)).join('\n'))
    const pace = ['--delay', `${DELAY_MS}ms`, '--scope', 'host', '--format', 'jsonl', ...LEASE]
    const ended = await runTiptoe(['seed', '-i', seeds, ...this.#place(), ...pace, ...reach(this.web), ...more])
    expect(ended).toMatchObject({ code: 0 })
  }
  start(workers: number): void {
    this.coordinator = this.#begin(['coordinator', ...this.#place()])
    for (let index = 0; index < workers; index++) this.startWorker(index)
  }
  startWorker(index: number, store = this.store): Program {
    const slots = ['--concurrency', '30', '--threads', '0']
    const worker = this.#begin(['worker', ...this.#place(store), '-o', this.folderOf(index), ...slots])
    this.workers[index] = worker
    return worker
  }
  folderOf = (index: number): string => join(folder.path, `w${index}`)
  /** Until so many requests were made, from now on. */
  async requests(count: number): Promise<void> {
    const before = this.web.log.length
    await until(() => this.web.log.length >= before + count, PATIENCE_MS, `${count} requests`)
  }
  async codes(): Promise<(number | null)[]> {
    return (await this.#endings()).map(({ code }) => code)
  }
  /** Each process has ended well; what one says that has not is shown. */
  async endsWell(): Promise<void> {
    const bad = (await this.#endings()).filter(({ code }) => code !== 0)
    expect(bad.map(({ code, stderr }) => `exit ${code}\n${stderr}`)).toEqual([])
  }
  async #endings(): Promise<Ending[]> {
    const all = [...(this.coordinator === undefined ? [] : [this.coordinator]), ...this.workers]
    return Promise.all(all.map(({ ended }) => ended))
  }
  /** No host was asked early, and what was found was kept, once. */
  async isIntact(pages: number): Promise<void> {
    isPolite(this.web)
    const urls = this.workers.flatMap((_, index) => recordedIn(this.folderOf(index)))
    expect(new Set(urls).size).toBe(urls.length)
    expect(urls.length).toBe(pages)
    const folders = this.workers.map((_, index) => this.folderOf(index)).filter((path) => existsSync(path))
    const audit = await runTiptoe(['audit', this.store, '--crawl', 'faults', ...folders])
    expect([audit.code, audit.stderr]).toEqual([0, ''])
  }
  #place(store = this.store): string[] {
    return ['--store', store, '--crawl', 'faults']
  }
  #begin(words: readonly string[]): Program {
    const program = startTiptoe(words)
    closing.push(async () => {
      program.child.kill('SIGKILL')
      await program.ended
    })
    return program
  }
}

function isPolite({ log }: LoopbackWeb): void {
  for (const host of new Set(log.map((entry) => entry.host)))
    expect(smallestGapMs(log, host), host).toBeGreaterThanOrEqual(DELAY_MS)
}

function recordedIn(path: string): string[] {
  const file = join(path, 'pages.jsonl')
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => (JSON.parse(line) as { readonly url: string }).url)
}

describe('a fleet goes on', () => {
  it('after a worker is killed, another frozen for longer than a lease, one cut off, and the server restarted', async () => {
    const server = own(await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] }))
    const proxy: FaultyProxy = own(await createFaultyProxy(server.port))
    proxy.set({ delayMs: 20, delayChance: 0.2 })
    const web = await webOf(30, 40)
    const fleet = new Fleet(web, server.url)
    await fleet.seed()
    fleet.start(2)
    fleet.startWorker(2, proxy.url)
    await fleet.requests(200)
    fleet.workers[0]?.child.kill('SIGKILL')
    await fleet.workers[0]?.ended
    fleet.startWorker(0)
    fleet.workers[1]?.child.kill('SIGSTOP')
    proxy.freeze()
    await fleet.requests(100)
    await server.kill()
    await server.restart()
    // The partitions keep quiet for longer than a lease before anything is asked again.
    await fleet.requests(50)
    fleet.workers[1]?.child.kill('SIGCONT')
    proxy.thaw()
    await fleet.endsWell()
    await fleet.isIntact(30 * 41)
  }, 90_000)

  it('when a primary dies whose replica has not heard of the last leases and settlements', async () => {
    const proxies = new Map<number, FaultyProxy>()
    const announce = async (port: number): Promise<number> => {
      const proxy = own(await createFaultyProxy(port))
      proxies.set(port, proxy)
      return proxy.port
    }
    const cluster = own(await startCluster({ announce, nodeTimeoutMs: 1_000 }))
    const web = await webOf(30, 30)
    const fleet = new Fleet(web, cluster.url)
    await fleet.seed()
    fleet.start(2)
    await fleet.requests(200)
    const primary = await cluster.primaryOf(0)
    const proxy = proxies.get(primary.port)
    proxy?.set({ replicaBytesPerSecond: 0 })
    await fleet.requests(100)
    await primary.kill()
    proxy?.cutAll()
    await fleet.endsWell()
    await fleet.isIntact(30 * 31)
  }, 90_000)
})

describe('a crawl whose state is lost is told as lost by everybody, with 3', () => {
  const cases: readonly (readonly [what: string, pattern: string | undefined])[] = [
    ['everything', undefined],
    ['what is known of the hosts of a partition', 'tiptoe:{faults:*}:hosts'],
    ['a set of known URLs', 'tiptoe:{faults:*}:k:*'],
    ['the record of the crawl', 'tiptoe:{faults}:crawl'],
  ]
  for (const [what, pattern] of cases)
    it(`when ${what} is deleted`, async () => {
      const server = own(await startRedis())
      const web = await webOf(10, 200)
      const fleet = new Fleet(web, server.url)
      await fleet.seed('--partitions', '4')
      fleet.start(2)
      await fleet.requests(100)
      if (pattern === undefined) await server.cli('flushall')
      else {
        const [key = ''] = (await server.cli('--scan', '--pattern', pattern)).split('\n')
        expect(await server.cli('del', key)).toBe('1')
      }
      expect(await fleet.codes()).toEqual([3, 3, 3])
      for (const { stderr } of fleet.workers) expect(stderr).toContain('the state of the crawl faults is lost')
      isPolite(web)
      if (pattern === undefined) {
        // Whoever worked on it does not begin another by the same name.
        expect(await fleet.startWorker(0).ended).toMatchObject({ code: 3, stderr: expect.stringContaining('is lost') })
      }
    }, 60_000)
})
