/**
 * What a failover does to a crawl, without one: the last writes are lost, and another server answers. The crawl's keys are
 * copied aside on the server, and put back later.
 */
import { createHash } from 'node:crypto'
import type { RedisLink } from '../link.ts'

export interface LostWrites {
  /** Remembers the crawl as it is now. */
  remember(): Promise<void>
  /** Makes it what it was then. */
  lose(): Promise<void>
  /** The partitions think that another server answered the last time. */
  changeServer(): Promise<void>
}

const REMEMBER = `
for _, key in ipairs(redis.call('KEYS', 'kept:' .. ARGV[1])) do redis.call('DEL', key) end
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('COPY', key, 'kept:' .. key) end`
const LOSE = `
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', key) end
for _, key in ipairs(redis.call('KEYS', 'kept:' .. ARGV[1])) do redis.call('COPY', key, string.sub(key, 6)) end`
const CHANGE_SERVER = `
for _, key in ipairs(redis.call('KEYS', ARGV[1] .. ':meta')) do redis.call('HSET', key, 'server', 'another') end`

export function createLostWrites(link: RedisLink, crawl: string): LostWrites {
  const pattern = `tiptoe:{${crawl}*`
  const run = async (text: string): Promise<void> => {
    const script = { name: 'test', text, sha: createHash('sha1').update(text).digest('hex') }
    await link.run(script, [], [pattern])
  }
  return {
    remember: () => run(REMEMBER),
    lose: () => run(LOSE),
    changeServer: () => run(CHANGE_SERVER),
  }
}
