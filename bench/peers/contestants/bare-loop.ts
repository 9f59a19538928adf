/**
 * The least that a crawler on Node can do: undici's `dispatch`, a scanner for `href` of `a`, a Set of what was seen.
 * It takes attributes in quotes as they stand, knows no comments and no base, and gives up on nothing.
 *
 *   node bench/peers/contestants/bare-loop.ts URL CONCURRENCY
 */
import { Pool, type Dispatcher } from 'undici'
import { isClosed } from '../site.ts'

const [url = '', concurrency = '32'] = process.argv.slice(2)
const { origin } = new URL(url)
const pool = new Pool(origin, { connections: Number(concurrency), pipelining: 1 })

const seen = new Set(['/'])
const queue = ['/']
/** Links as they are written, with the folder of their page: each is resolved once. */
const written = new Set<string>()
let running = 0

function pump(): void {
  while (running < Number(concurrency)) {
    const path = queue.pop()
    if (path === undefined) break
    running++
    pool.dispatch({ path, method: 'GET' }, createReader(path))
  }
  if (running === 0) void pool.close()
}

function createReader(path: string): Dispatcher.DispatchHandler {
  const chunks: Buffer[] = []
  let wanted = false
  const end = (): void => {
    running--
    pump()
  }
  return {
    onRequestStart() {},
    onResponseStart(_controller, status, headers) {
      wanted = status === 200 && String(headers['content-type']).startsWith('text/html')
    },
    onResponseData(_controller, chunk) {
      if (wanted) chunks.push(chunk)
    },
    onResponseEnd() {
      if (wanted) scan(path, (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString('latin1'))
      end()
    },
    onResponseError: end,
  }
}

function scan(path: string, html: string): void {
  const folder = path.slice(0, path.lastIndexOf('/') + 1)
  for (let at = html.indexOf('<a'); at !== -1; at = html.indexOf('<a', at + 2)) {
    if (html.charCodeAt(at + 2) > 32) continue
    const close = html.indexOf('>', at)
    const attribute = html.indexOf('href=', at)
    if (attribute === -1 || close === -1) break
    if (attribute > close) continue
    const quote = html[attribute + 5] === "'" ? "'" : '"'
    const from = attribute + 6
    const to = html.indexOf(quote, from)
    if (to === -1) break
    const href = html.slice(from, to)
    const hash = href.indexOf('#')
    if (hash !== 0 && href !== '') follow(folder, hash === -1 ? href : href.slice(0, hash))
    at = to
  }
}

function follow(folder: string, href: string): void {
  const text = `${folder} ${href}`
  if (written.has(text)) return
  written.add(text)
  const link = URL.parse(href.replaceAll('&amp;', '&'), origin + folder)
  if (link === null || link.origin !== origin) return
  const found = link.pathname + link.search
  if (seen.has(found) || isClosed(found)) return
  seen.add(found)
  queue.push(found)
}

pump()
