/**
 * The site that is crawled: documentation of real projects as Debian packages it, behind one page with links to all of
 * it, served by nginx on loopback. Pages alone are served; whatever else they link to is answered with 404. Parts
 * are linked to but closed by robots.txt.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdirSync, openSync, readSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { unpackPackages } from './debian.ts'

interface Documentation {
  /** The first of these that Debian has; names with versions differ from one Debian to the next. */
  readonly packages: readonly string[]
  /** Where its first page may be, below /usr/share. */
  readonly entries: readonly string[]
}

/** About 10,000 pages of 35 KB with a hundred links each, in Debian 12. */
const OPEN: readonly Documentation[] = [
  { packages: ['cppreference-doc-en-html'], entries: ['cppreference/doc/html/en/index.html'] },
  {
    packages: ['linux-doc-6.1', 'linux-doc-6.12'],
    entries: ['doc/linux-doc-6.1/html/index.html', 'doc/linux-doc-6.12/html/index.html'],
  },
  {
    packages: ['postgresql-doc-15', 'postgresql-doc-17'],
    entries: ['doc/postgresql-doc-15/html/index.html', 'doc/postgresql-doc-17/html/index.html'],
  },
  { packages: ['python-django-doc'], entries: ['doc/python-django-doc/html/index.html'] },
  { packages: ['sqlite3-doc'], entries: ['doc/sqlite3/index.html'] },
]
const CLOSED: Documentation = { packages: ['git-doc'], entries: ['doc/git-doc/index.html'] }
/** Paths that begin so are closed: a whole manual, and the sources that every page of another has a link to. */
const CLOSED_PREFIXES: readonly string[] = [
  '/doc/git-doc/',
  '/doc/linux-doc-6.1/html/_sources/',
  '/doc/linux-doc-6.12/html/_sources/',
]

/** Whether robots.txt closes a path. */
export function isClosed(path: string): boolean {
  return CLOSED_PREFIXES.some((prefix) => path.startsWith(prefix))
}

const START_MS = 10_000

export interface Site {
  readonly url: string
  readonly host: string
  /** What was asked for since the last call: each line is method, status and path. */
  takeLog(): string
  stop(): Promise<void>
}

/** Unpacks what is missing in the folder, and starts the server. */
export async function startSite(folder: string): Promise<Site> {
  const entries: string[] = []
  const docs = join(folder, 'docs')
  for (const documentation of [...OPEN, CLOSED]) entries.push(unpackDocumentation(docs, documentation))
  const server = unpackPackages(join(folder, 'nginx'), ['nginx-light'])
  if (typeof server === 'string') throw new Error(`the site needs nginx: ${server}`)
  const program = server.program('nginx')
  if (program === undefined) throw new Error('the site needs nginx: the package has no program')

  const own = join(folder, 'site')
  mkdirSync(join(own, 'temp'), { recursive: true })
  writeFileSync(join(own, 'index.html'), indexPage(entries))
  const robots = `User-agent: *\n${CLOSED_PREFIXES.map((prefix) => `Disallow: ${prefix}\n`).join('')}`
  writeFileSync(join(own, 'robots.txt'), robots)
  const port = await freePort()
  const log = join(own, 'access.log')
  writeFileSync(log, '')
  writeFileSync(join(own, 'nginx.conf'), configuration({ own, docs: join(docs, 'usr/share'), log, port }))
  const child = spawn(program, ['-p', own, '-c', join(own, 'nginx.conf'), '-e', join(own, 'error.log')], {
    env: { ...process.env, ...server.env },
    stdio: 'ignore',
  })
  const gone = once(child, 'exit')
  const end = (): void => void child.kill()
  process.on('exit', end)
  await answering(port, gone)
  return {
    url: `http://127.0.0.1:${port}/`,
    host: '127.0.0.1',
    takeLog: createLogReader(log),
    async stop() {
      process.off('exit', end)
      child.kill()
      await gone
    },
  }
}

/** Returns the path of its first page on the site. */
function unpackDocumentation(docs: string, { packages, entries }: Documentation): string {
  const reasons: string[] = []
  for (const name of packages) {
    const unpacked = unpackPackages(docs, [name], { alone: true })
    if (typeof unpacked === 'string') reasons.push(unpacked)
    else {
      const entry = entries.find((path) => existsSync(unpacked.path(join('usr/share', path))))
      if (entry !== undefined) return entry
      reasons.push(`${name} has none of the pages that were expected`)
    }
  }
  throw new Error(`the site is not complete: ${reasons.join('; ')}`)
}

function indexPage(entries: readonly string[]): string {
  const items = entries.map((entry) => `<li><a href="/${entry}">${entry}</a></li>`)
  return `<!doctype html>\n<html lang="en"><title>Documentation</title>\n<h1>Documentation</h1>\n<ul>\n${items.join('\n')}\n</ul>\n</html>\n`
}

/** One process that serves files, with keep-alive and a line in the log for each request, written at once. */
function configuration(of: { own: string; docs: string; log: string; port: number }): string {
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const temporary = temp.map((name) => `  ${name}_temp_path ${join(of.own, 'temp', name)};`).join('\n')
  const user = process.getuid?.() === 0 ? 'user root;\n' : ''
  return `${user}daemon off;
worker_processes 1;
pid ${join(of.own, 'nginx.pid')};
error_log ${join(of.own, 'error.log')};
events { worker_connections 1024; }
http {
${temporary}
  types { text/html html htm; text/plain txt; }
  charset utf-8;
  sendfile on;
  tcp_nopush on;
  open_file_cache max=20000 inactive=1h;
  log_format asked '$request_method $status $request_uri';
  access_log ${of.log} asked;
  server {
    listen 127.0.0.1:${of.port} reuseport backlog=1024;
    root ${of.docs};
    location = / { root ${of.own}; index index.html; }
    location = /index.html { root ${of.own}; }
    location = /robots.txt { root ${of.own}; }
    location ~ \\.html?$ { }
    location ~ /$ { index index.html; }
    location / { return 404; }
  }
}
`
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function answering(port: number, gone: Promise<unknown>): Promise<void> {
  let over = false
  void gone.then(() => (over = true))
  for (let waited = 0; waited < START_MS; waited += 50) {
    if (over) throw new Error('nginx ended at once; its error.log says why')
    const socket = connect(port, '127.0.0.1')
    const open = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    socket.destroy()
    if (open) return
    await wait(50)
  }
  throw new Error('nginx does not answer')
}

function createLogReader(file: string): () => string {
  let from = 0
  return () => {
    const length = statSync(file).size - from
    const bytes = Buffer.alloc(length)
    const fd = openSync(file, 'r')
    readSync(fd, bytes, 0, length, from)
    closeSync(fd)
    from += length
    return bytes.toString('latin1')
  }
}
