/**
 * The scripts, read from their files. What several verbs share stands in `lua/shared/`, and goes in front of each of them:
 * Redis has no way to load one script from another.
 *
 * All of it is run anew with each call, and making two hundred functions takes longer than what a small verb does with
 * them. So a verb gets those statements only that define a name which it uses, or which they use: what is shared consists
 * of nothing but definitions, each of which begins with `local` at the beginning of a line.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Script } from './link.ts'

/** In an order in which each uses nothing but what comes before it. */
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

/** A definition of what is shared, up to the next one. */
interface Statement {
  readonly text: string
  readonly defines: readonly string[]
  readonly uses: ReadonlySet<string>
}

const read = (path: string): string => readFileSync(new URL(`./lua/${path}.lua`, import.meta.url), 'utf8')

const namesIn = (text: string): Set<string> => new Set(text.match(/[A-Za-z_]\w*/g))

function statementsOf(text: string): Statement[] {
  const code = text
    .split('\n')
    .filter((line) => !/^\s*(--|$)/.test(line))
    .join('\n')
  return code.split(/\n(?=local )/).map((statement) => {
    const [, names = ''] = /^local (?:function )?([\w, ]+)/.exec(statement) ?? []
    return { text: statement, defines: names.split(',').map((name) => name.trim()), uses: namesIn(statement) }
  })
}

let shared: readonly Statement[] | undefined

/** A script on one partition, of this text and of what it uses of what is shared. */
export function partitionScript(name: string, text: string): Script {
  return scriptOf(name, () => withShared(text))
}

function withShared(text: string): string {
  shared ??= SHARED.flatMap((part) => statementsOf(read(`shared/${part}`)))
  const uses = namesIn(text)
  const needed: string[] = []
  // What is used was defined before, so one way from the last to the first finds all of it.
  for (const statement of shared.toReversed()) {
    if (!statement.defines.some((defined) => uses.has(defined))) continue
    for (const used of statement.uses) uses.add(used)
    needed.unshift(statement.text)
  }
  // A function of its own: Lua permits 200 local names in one, and 60 from outside of it.
  return [...needed, `return (function()\n${text}\nend)()`].join('\n')
}

/** A verb on one partition. */
export const loadScript = (name: string): Script => scriptOf(name, () => withShared(read(name)))

/** A script on what belongs to the crawl as a whole: it shares nothing. ARGV: the time if it is told, and JSON. */
export const loadCrawlScript = (name: string): Script => scriptOf(name, () => read(name))

/** Its text is made when it is first asked for: most crawls are on no server. */
function scriptOf(name: string, makeText: () => string): Script {
  let made: { readonly text: string; readonly sha: string } | undefined
  const make = (): { readonly text: string; readonly sha: string } => {
    const text = makeText()
    return { text, sha: createHash('sha1').update(text).digest('hex') }
  }
  return {
    name,
    get text() {
      return (made ??= make()).text
    },
    get sha() {
      return (made ??= make()).sha
    },
  }
}
