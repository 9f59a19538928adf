/**
 * The scripts, read from their files. What several verbs share stands in `lua/shared/`, in front of each of them: Redis
 * has no way to load one script from another.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Script } from './link.ts'

const SHARED = [
  'partition',
  'row',
  'host',
  'groups',
  'ledger',
  'health',
  'robots',
  'visits',
  'parking',
  'intake',
  'look',
]

const read = (path: string): string => readFileSync(new URL(`./lua/${path}.lua`, import.meta.url), 'utf8')

const scriptOf = (name: string, text: string): Script => ({
  name,
  text,
  sha: createHash('sha1').update(text).digest('hex'),
})

/**
 * A verb on one partition. It is a function behind what is shared: Lua permits 200 local names in one, and 60 from outside
 * of it. Each call runs what is shared anew, so a verb that is called often and needs little may name the parts it needs.
 */
export function loadScript(name: string, parts: readonly string[] = SHARED): Script {
  const verb = `return (function()\n${read(name)}\nend)()`
  return scriptOf(name, [...parts.map((part) => read(`shared/${part}`)), verb].join('\n'))
}

/** A script on what belongs to the crawl as a whole: it shares nothing. ARGV: the time if it is told, and JSON. */
export function loadCrawlScript(name: string): Script {
  return scriptOf(name, read(name))
}
