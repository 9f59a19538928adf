/** What happens to servers, done to the keys of one crawl: keys go missing, or all of them are as they were before. */
import { createHash } from 'node:crypto'
import type { RedisLink, Reply } from '../link.ts'

export interface Sabotage {
  /** Names of its keys, without what all have in common. */
  names(): Promise<readonly string[]>
  delete(name: string): Promise<void>
  /** A field of its `meta`, or of what is known of the crawl as a whole. */
  set(field: string, value: string): Promise<void>
  get(field: string): Promise<string | null>
  /** Remembers all of its keys, to be put back by `restore`: the newest writes are lost then. */
  remember(): Promise<void>
  /** As a server does that took over without them: it has another identity. */
  restore(): Promise<void>
}

/** Of one partition, or of what belongs to the crawl as a whole. */
export function createSabotage(link: RedisLink, crawl: string, part: number | 'crawl' = 0): Sabotage {
  const prefix = part === 'crawl' ? `tiptoe:{${crawl}}:` : `tiptoe:{${crawl}:${part}}:`
  const main = `${prefix}${part === 'crawl' ? 'crawl' : 'meta'}`
  const backup = `backup:${prefix}`
  const run = (text: string, ...args: string[]): Promise<Reply> =>
    link.run({ name: 'sabotage', text, sha: createHash('sha1').update(text).digest('hex') }, [main], args)
  return {
    async names() {
      const keys = (await run(`return redis.call('KEYS', ARGV[1] .. '*')`, prefix)) as readonly string[]
      return keys.map((key) => key.slice(prefix.length)).sort()
    },
    async delete(name) {
      await run(`return redis.call('DEL', ARGV[1])`, prefix + name)
    },
    async set(field, value) {
      await run(`return redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])`, field, value)
    },
    get: async (field) => (await run(`return redis.call('HGET', KEYS[1], ARGV[1])`, field)) as string | null,
    async remember() {
      await run(COPY, prefix, backup)
    },
    async restore() {
      await run(COPY, backup, prefix)
      await run(`return redis.call('HSET', KEYS[1], 'server', 'another')`)
    },
  }
}

const COPY = `
for _, key in ipairs(redis.call('KEYS', ARGV[2] .. '*')) do redis.call('DEL', key) end
for _, key in ipairs(redis.call('KEYS', ARGV[1] .. '*')) do
  redis.call('COPY', key, ARGV[2] .. string.sub(key, #ARGV[1] + 1), 'REPLACE')
end
return 1`
