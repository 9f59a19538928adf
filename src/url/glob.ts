/**
 * Globs: `*` stands for any characters of one segment, `**` for any characters at all, everything else for itself.
 * Behind a `?` there are no segments, so there `*` stands for any characters too. A glob without a wildcard names a
 * folder: it matches that and, by whole segments, everything below it. What text a glob is held against is decided in
 * `pattern.ts`.
 */
import { TiptoeError } from '../model/index.ts'
import { compileNfa, type CharSet, type Expression } from './nfa.ts'

export type GlobTest = (subject: string) => boolean

type Token = { readonly literal: string } | { readonly crossesSlash: boolean }

/** `glob` is already spelled as URLs are: percent-encoded, with a lower-case host. */
export function compileGlob(glob: string): GlobTest {
  const tokens = tokenize(glob)
  const first = tokens[0] ?? { literal: '' }
  const last = tokens.at(-1) ?? { literal: '' }
  if (tokens.length < 2 && 'literal' in first) return compileFolder(first.literal)

  // Most URLs are refused by the literal ends alone.
  const prefix = 'literal' in first ? first.literal : ''
  const suffix = 'literal' in last ? last.literal : ''
  const inner = tokens.filter((token) => token !== first && token !== last)
  const rest = compileRest(tokens, prefix, suffix, inner)
  return (subject) =>
    subject.length >= prefix.length + suffix.length &&
    subject.startsWith(prefix) &&
    subject.endsWith(suffix) &&
    rest(subject)
}

function compileFolder(literal: string): GlobTest {
  // With a query it names one page.
  if (literal.includes('?')) return (subject) => subject === literal
  const folder = literal.endsWith('/') ? literal : `${literal}/`
  return (subject) => subject === literal || subject.startsWith(folder)
}

/** The test for a subject whose literal ends have been checked. */
function compileRest(tokens: readonly Token[], prefix: string, suffix: string, inner: readonly Token[]): GlobTest {
  const wildcards = tokens.filter((token) => 'crossesSlash' in token)
  const only = wildcards.length === 1 ? wildcards[0] : undefined
  if (only !== undefined && inner.every((token) => token === only)) {
    if (only.crossesSlash) return () => true
    return (subject) => {
      const slash = subject.indexOf('/', prefix.length)
      return slash === -1 || slash >= subject.length - suffix.length
    }
  }
  const nfa = compileNfa({
    kind: 'sequence',
    items: [{ kind: 'assert', what: 'start' }, ...tokens.map(toExpression), { kind: 'assert', what: 'end' }],
  })
  if (nfa === undefined) {
    const start = 'literal' in tokens[0]! ? tokens[0].literal.slice(0, 40) : '*'
    throw new TiptoeError('usage', `pattern "${start}…" is too long once it is percent-encoded`)
  }
  return (subject) => nfa.search(subject).matched
}

function tokenize(glob: string): Token[] {
  const tokens: Token[] = []
  const question = glob.indexOf('?')
  let at = 0
  while (at < glob.length) {
    if (glob[at] === '*') {
      const from = at
      while (glob[at] === '*') at++
      tokens.push({ crossesSlash: at - from > 1 || (question !== -1 && from > question) })
    } else {
      const star = glob.indexOf('*', at)
      const end = star === -1 ? glob.length : star
      tokens.push({ literal: glob.slice(at, end) })
      at = end
    }
  }
  return tokens
}

const ANY: CharSet = new Uint8Array(128).fill(1)
const NOT_SLASH: CharSet = ANY.map((member, code) => (code === 0x2f ? 0 : member))

function toExpression(token: Token): Expression {
  if ('crossesSlash' in token) {
    const item: Expression = { kind: 'set', set: token.crossesSlash ? ANY : NOT_SLASH }
    return { kind: 'repeat', item, min: 0, max: Infinity }
  }
  const items = Array.from(token.literal, (character): Expression => {
    const set = new Uint8Array(128)
    set[character.charCodeAt(0)] = 1
    return { kind: 'set', set }
  })
  return { kind: 'sequence', items }
}
