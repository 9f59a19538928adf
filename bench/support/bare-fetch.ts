/**
 * The bare baseline of a crawl: fetches the URLs of a file over the same number of connections, and does nothing else.
 *
 *   node bench/support/bare-fetch.ts FILE CONCURRENCY
 */
import { readFileSync } from 'node:fs'
import type { LookupFunction } from 'node:net'
import { Agent, request } from 'undici'

const [file = '', concurrency = '20'] = process.argv.slice(2)
const urls = readFileSync(file, 'utf8').trim().split('\n')
const toLoopback: LookupFunction = (_host, options, callback) => {
  if (options.all === true) callback(null, [{ address: '127.0.0.1', family: 4 }])
  else callback(null, '127.0.0.1', 4)
}
const dispatcher = new Agent({ connections: Number(concurrency), connect: { lookup: toLoopback } })
let next = 0
let bytes = 0

async function work(): Promise<void> {
  for (let url = urls[next++]; url !== undefined; url = urls[next++]) {
    const { statusCode, body } = await request(url, { dispatcher })
    if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}`)
    bytes += (await body.arrayBuffer()).byteLength
  }
}

await Promise.all(Array.from({ length: Number(concurrency) }, work))
await dispatcher.close()
process.stdout.write(`${urls.length} pages, ${bytes} bytes\n`)
