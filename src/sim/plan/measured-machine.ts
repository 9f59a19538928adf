/**
 * What this machine can do, measured by doing it: a real crawl of made-up pages for a moment, from a server of its own
 * on loopback to a store and an output in a temporary folder. Only worth its second where the machine may be what
 * bounds the crawl.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRng, type Clock } from '../../base/index.ts'
import type { Settings } from '../../config/index.ts'
import { openCrawl } from '../../engine/index.ts'
import type { NormalizedUrl } from '../../model/index.ts'
import { USUAL_COSTS, type MachineCosts } from './machine.ts'
import { createDelayRule } from './bounds.ts'
import type { PlannedHost } from './planned-web.ts'

/** The crawl lasts this long; only what comes after the beginning counts, since code is slow when it is new. */
const MEASURE_MS = 2_500
const WARM_UP_MS = 1_500
const SLOTS = 20
/** Of documentation sites: a link in so many bytes. */
const BYTES_PER_LINK = 300
const HOST = 'measure.example'
const LOOPBACK = '127.0.0.1'
/** A machine this busy is worth measuring. */
const BUSY_SHARE = 0.3

/** Whether so many slots can keep the machine busy at all, when every host is asked as fast as it may be. */
export function canBeBusy(hosts: Iterable<PlannedHost>, slots: number, settings: Settings): boolean {
  const policyOf = createDelayRule(settings)
  const pageMs = USUAL_COSTS.pageMs + USUAL_COSTS.requestMs
  let perSecond = 0
  let fastestPerSlot = 0
  for (const host of hosts) {
    const { delayMs, concurrency } = policyOf(host)
    // With a delay, requests start so far apart however many may be in flight.
    const turnMs = Math.max(delayMs + (concurrency > 1 && delayMs > 0 ? 0 : host.latencyMs), LEAST_TURN_MS)
    perSecond += ((delayMs > 0 ? 1 : concurrency) * 1_000) / turnMs
    fastestPerSlot = Math.max(fastestPerSlot, 1_000 / Math.max(host.latencyMs, LEAST_TURN_MS))
    if (Math.min(perSecond, slots * fastestPerSlot) * pageMs >= 1_000 * BUSY_SHARE) return true
  }
  return false
}

/** No request is over sooner. */
const LEAST_TURN_MS = 0.1

/** Where time is read, and how much of it the processor gave to this process so far. */
export interface MeasuringDeps {
  readonly clock: Clock
  cpuMs(): number
}

/** The costs with pages of this size. */
export async function measureMachine(
  bytesPerPage: number,
  settings: Settings,
  { clock, cpuMs }: MeasuringDeps,
): Promise<MachineCosts> {
  const folder = mkdtempSync(join(tmpdir(), 'tiptoe-simulate-'))
  const site = await serveMadeUpPages(bytesPerPage, clock)
  try {
    const startedAt = clock.now()
    const crawl = await openCrawl({
      settings: measuringSettings(settings, site.port),
      seeds: [`http://${HOST}:${site.port}/` as NormalizedUrl],
      store: join(folder, 'state'),
      outputFolder: folder,
      clock,
      rng: createRng(1),
    })
    let pages = 0
    const moment = (): Moment => ({ at: clock.now(), cpuMs: cpuMs(), servedMs: site.busyMs, pages })
    let warm: Moment | undefined
    crawl.events.on('page', () => {
      pages += 1
      if (clock.now() - startedAt >= WARM_UP_MS) warm ??= moment()
    })
    await crawl.run()
    const end = moment()
    await crawl.close()
    if (warm === undefined || end.pages === warm.pages) return USUAL_COSTS
    // On a machine that others use too, time passes that a page does not cost.
    const spentMs = Math.min(end.at - warm.at, end.cpuMs - warm.cpuMs)
    const totalMs = Math.max(0, spentMs - (end.servedMs - warm.servedMs)) / (end.pages - warm.pages)
    const requestMs = Math.min(USUAL_COSTS.requestMs, totalMs / 3)
    // Commits are shared by so many pages that they are part of what a page costs.
    const pageMs = totalMs - requestMs
    const lostMs = warm.at - startedAt - warm.servedMs - warm.pages * totalMs
    return { ...USUAL_COSTS, requestMs, pageMs, coldPages: Math.max(0, lostMs / pageMs), commitMs: 0, from: 'measured' }
  } finally {
    site.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Moment {
  readonly at: number
  readonly cpuMs: number
  readonly servedMs: number
  readonly pages: number
}

function measuringSettings(settings: Settings, port: number): Settings {
  const { maxPages: _pages, maxBytes: _bytes, maxDepth: _depth, ...rest } = settings
  return {
    ...rest,
    scope: 'any',
    include: [],
    exclude: [],
    sites: [],
    resolve: [{ host: HOST, port, address: LOOPBACK }],
    allowAddresses: [LOOPBACK],
    delayMs: 0,
    perIpDelayMs: 0,
    perDomainDelayMs: 0,
    perHost: SLOTS,
    workers: 1,
    concurrency: SLOTS,
    sitemaps: false,
    maxTimeMs: MEASURE_MS,
  }
}

interface MadeUpSite {
  readonly port: number
  /** What it has cost so far. */
  readonly busyMs: number
  close(): void
}

/** An endless site on loopback, served with as little work as there can be: it is not what is measured. */
async function serveMadeUpPages(bytes: number, clock: Clock): Promise<MadeUpSite> {
  const makePage = pageMaker(bytes)
  const sockets = new Set<Socket>()
  let busyMs = 0
  const server = createServer((socket) => {
    sockets.add(socket)
    let head = ''
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk: Buffer) => {
      const startedAt = clock.now()
      head += chunk.toString('latin1')
      for (let end = head.indexOf('\r\n\r\n'); end !== -1; end = head.indexOf('\r\n\r\n')) {
        const path = head.slice(head.indexOf(' ') + 2, head.indexOf(' ', head.indexOf(' ') + 1))
        head = head.slice(end + 4)
        const number = Number(path === '' ? 0 : path)
        socket.write(Number.isSafeInteger(number) ? makePage(number) : NOT_FOUND)
      }
      if (head.length > MOST_HEAD_BYTES) socket.destroy()
      busyMs += clock.now() - startedAt
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, LOOPBACK, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    get busyMs() {
      return busyMs
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

const NOT_FOUND = 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n'
const MOST_HEAD_BYTES = 65_536

/** Each page leads to ten new ones and to many that are known, and no two say the same. */
function pageMaker(bytes: number): (number: number) => string {
  const links = Math.max(10, Math.round(bytes / BYTES_PER_LINK))
  const head = '<!doctype html><html lang="en"><head><title>A page</title></head><body><main><h1>A page</h1>\n<ul>\n'
  const rng = createRng(1)
  const word = (): string => WORDS[rng.int(WORDS.length)] as string
  const paragraphs = Array.from({ length: PARAGRAPHS }, () => {
    const sentence = (): string =>
      `The ${word()} of the ${word()} keeps every ${word()}, and the ${word()} waits for a ${word()} ${word()}.`
    return `<p>${Array.from({ length: 5 }, sentence).join(' ')}</p>\n`
  })
  return (number) => {
    let body = head
    for (let link = 0; link < links; link++) {
      const target = link < 10 ? number * 10 + link + 1 : (number * 31 + link * 17) % (number * 10 + 1)
      body += `<li><a href="/${target}">The ${WORDS[target % WORDS.length]} of page ${target}</a></li>\n`
    }
    body += '</ul>\n'
    for (let next = number * 7; body.length < bytes; next++) body += paragraphs[next % PARAGRAPHS] as string
    body += `<p>Page ${number}.</p></main></body></html>\n`
    return `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  }
}

const PARAGRAPHS = 512
const WORDS = (
  'archive batch bridge buffer carriage channel clock column copper corner counter delay desk door engine evening ' +
  'field filter garden gate harbour index island journal kettle ladder lantern ledger letter library limit machine ' +
  'margin market meadow minute mirror morning needle notebook office orchard packet paper path pattern pencil pocket ' +
  'port queue rail record region river road route sample season server shelf signal station stream summer table teacup'
).split(' ')
