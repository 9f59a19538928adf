/**
 * A real redis-server on loopback, in a folder of its own, without persistence unless asked for. A small shell stands
 * between it and the tests: when its input ends, in whatever way the tests ended, it kills the server; so none is left.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findRedisServer } from './find-server.ts'
import { freePorts } from './free-port.ts'
import { until } from './until.ts'

export interface RedisServerOptions {
  /** As on the command line: `['--appendonly', 'yes']`. */
  readonly args?: readonly string[]
  readonly port?: number
  readonly password?: string
  /** A certificate and its key in PEM: then TLS is the only way in. */
  readonly tls?: { readonly certificate: string; readonly key: string }
}

export interface RedisServer {
  readonly port: number
  readonly folder: string
  /** For `connectRedis`, password and all. */
  readonly url: string
  /** Runs redis-cli on it and gives what it prints, without the last line's end. */
  cli(...args: string[]): Promise<string>
  /** SIGKILL; resolves when the port is closed. */
  kill(): Promise<void>
  /** Starts it again after `kill`, with the same port and folder; a file of data is loaded if there is one. */
  restart(): Promise<void>
  /** SIGSTOP: it accepts connections and answers nothing. */
  freeze(): void
  thaw(): void
  /** Ends it and removes its folder. */
  close(): Promise<void>
}

const GUARD = 'trap "" INT TERM HUP; "$@" </dev/null >>server.log 2>&1 & echo $!; read -r _; kill -9 $! 2>/dev/null'
const START_MS = 20_000

export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const programs = findRedisServer()
  const [free = 0] = options.port === undefined ? await freePorts(1) : []
  const port = options.port ?? free
  const folder = mkdtempSync(join(tmpdir(), 'tiptoe-redis-'))
  const args = [
    '--bind',
    '127.0.0.1',
    '--dir',
    folder,
    '--save',
    '',
    '--appendonly',
    'no',
    '--repl-diskless-sync-delay',
    '0',
  ]
  const cliArgs = ['-h', '127.0.0.1', '-p', String(port), '--no-auth-warning']
  if (options.tls === undefined) args.push('--port', String(port))
  else {
    const certificate = join(folder, 'certificate.pem')
    const key = join(folder, 'key.pem')
    writeFileSync(certificate, options.tls.certificate)
    writeFileSync(key, options.tls.key)
    args.push('--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'no')
    args.push('--tls-cert-file', certificate, '--tls-key-file', key, '--tls-ca-cert-file', certificate)
    cliArgs.push('--tls', '--insecure')
  }
  if (options.password !== undefined) {
    args.push('--requirepass', options.password)
    cliArgs.push('-a', options.password)
  }
  args.push(...(options.args ?? []))

  let guard: ChildProcess | undefined
  let pid = 0
  const cli = async (...command: string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)(programs.cli, [...cliArgs, ...command], { timeout: START_MS })
    return stdout.trimEnd()
  }
  const start = async (): Promise<void> => {
    const child = spawn('sh', ['-c', GUARD, 'sh', programs.server, ...args], {
      cwd: folder,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    guard = child
    // Tests end although a server of theirs still runs; the guard then ends it.
    child.unref()
    pid = await new Promise<number>((resolve, reject) => {
      child.once('error', reject)
      child.stdout?.once('data', (data: Buffer) => resolve(Number(data.toString())))
    })
    child.stdin?.on('error', () => {})
    ;(child.stdin as unknown as { unref?(): void } | null)?.unref?.()
    ;(child.stdout as unknown as { unref?(): void } | null)?.unref?.()
    await until(
      async () => {
        if (!isAlive(pid)) throw new Error(`redis-server ended: ${readFileSync(join(folder, 'server.log'), 'utf8')}`)
        const answer = await cli('ping').catch(() => '')
        return answer === 'PONG' || answer.includes('NOAUTH') || answer.includes('MASTERDOWN')
      },
      START_MS,
      'redis-server answers',
    )
  }
  const signal = (name: NodeJS.Signals): void => {
    if (isAlive(pid)) process.kill(pid, name)
  }
  const kill = async (): Promise<void> => {
    // The port of one that is gone may be another server's by now.
    if (guard === undefined) return
    signal('SIGKILL')
    await until(async () => !(await isListening(port)), START_MS, 'redis-server is gone')
    guard.stdin?.end()
    guard = undefined
  }
  const credentials = options.password === undefined ? '' : `:${encodeURIComponent(options.password)}@`
  await start()
  return {
    port,
    folder,
    url: `${options.tls === undefined ? 'redis' : 'rediss'}://${credentials}127.0.0.1:${port}`,
    cli,
    kill,
    restart: start,
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async close() {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
