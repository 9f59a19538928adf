/**
 * Where `redis-server` and `redis-cli` are. On Debian, as root, they are installed when they are missing, so that one
 * command runs every test on a bare machine; anywhere else a line says what to do. With REDIS_SERVER the tests run on
 * another server that speaks the same protocol, and on its own command line, which lies beside it.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'

export interface RedisPrograms {
  readonly server: string
  readonly cli: string
}

export function findRedisServer(): RedisPrograms {
  const given = process.env['REDIS_SERVER']
  if (given !== undefined && given !== '') return named(given)
  const found = onPath()
  if (found !== undefined) return found
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'redis-server']])
      spawnSync('apt-get', args, { env: environment, stdio: 'ignore', timeout: 300_000 })
    const installed = onPath()
    if (installed !== undefined) return installed
  }
  throw new Error('the tests need redis-server and redis-cli, 7.0 or newer: install the package redis-server')
}

/** `/opt/valkey/valkey-server` has `/opt/valkey/valkey-cli` beside it. */
function named(server: string): RedisPrograms {
  const cli = join(dirname(server), basename(server).replace(/server$/, 'cli'))
  for (const path of [server, cli]) if (!existsSync(path)) throw new Error(`REDIS_SERVER: there is no ${path}`)
  return { server, cli }
}

function onPath(): RedisPrograms | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const find = (name: string): string | undefined =>
    folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
  const server = find('redis-server')
  const cli = find('redis-cli')
  return server === undefined || cli === undefined ? undefined : { server, cli }
}
