/**
 * Reads the regular expressions of `re:` patterns: the part of JavaScript's syntax that a finite automaton can run.
 * Literals, `.`, classes, `\d \w \s \b` and their opposites, groups, `|`, `* + ? {n,m}` (a lazy `?` behind them
 * changes nothing where only yes or no is asked), `^` and `$`. Back-references and look-around are refused, as is
 * anything else that JavaScript would read differently.
 */
import { TiptoeError } from '../model/index.ts'
import { compileNfa, MAX_STATES, type CharSet, type Expression, type Nfa } from './nfa.ts'

/** Deeper groups are refused: the reader and the compiler call themselves once for each. */
const MAX_NESTING = 100

/** Larger counts are refused while reading. */
const MAX_COUNT = MAX_STATES

export function compileRegex(pattern: string, start: number): Nfa {
  const nfa = compileNfa(readExpression(pattern, start))
  if (nfa === undefined) throw tooLarge(pattern)
  return nfa
}

const tooLarge = (pattern: string): TiptoeError =>
  new TiptoeError('usage', `pattern "${pattern}" is too large: it needs more than ${MAX_STATES} states`, {
    hint: 'use smaller counts in {n,m}',
  })

const charSet = (isMember: (code: number) => boolean): CharSet =>
  Uint8Array.from({ length: 128 }, (_, code) => (isMember(code) ? 1 : 0))
const within = (characters: string): CharSet => charSet((code) => characters.includes(String.fromCharCode(code)))
const opposite = (set: CharSet): CharSet => set.map((member) => 1 - member)

const DIGITS = within('0123456789')
const WORD = charSet((code) => /\w/.test(String.fromCharCode(code)))
const SPACES = within('\t\n\v\f\r ')
const ANY = opposite(within('\n\r'))
const CLASS_ESCAPES: Readonly<Record<string, CharSet>> = {
  d: DIGITS,
  D: opposite(DIGITS),
  w: WORD,
  W: opposite(WORD),
  s: SPACES,
  S: opposite(SPACES),
}
const CONTROL_ESCAPES: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 }

function readExpression(pattern: string, start: number): Expression {
  let at = start
  let nesting = 0

  const fail = (what: string, position = at, hint?: string): TiptoeError =>
    new TiptoeError(
      'usage',
      `pattern "${pattern}": ${what} at character ${position + 1}`,
      hint === undefined ? {} : { hint },
    )
  const accept = (text: string): boolean => {
    if (!pattern.startsWith(text, at)) return false
    at += text.length
    return true
  }

  const readChoice = (): Expression => {
    const options = [readSequence()]
    while (accept('|')) options.push(readSequence())
    return options.length === 1 ? options[0]! : { kind: 'choice', options }
  }

  const readSequence = (): Expression => {
    const items: Expression[] = []
    while (at < pattern.length && pattern[at] !== '|' && pattern[at] !== ')') items.push(readQuantified())
    return { kind: 'sequence', items }
  }

  const readQuantified = (): Expression => {
    const item = readAtom()
    const position = at
    const counts = readQuantifier()
    if (counts === undefined) return item
    if (item.kind === 'assert') throw fail('nothing to repeat', position)
    accept('?')
    const after = at
    if (readQuantifier() !== undefined) throw fail('nothing to repeat', after)
    return { kind: 'repeat', item, min: counts.min, max: counts.max }
  }

  const readQuantifier = (): { min: number; max: number } | undefined => {
    if (accept('*')) return { min: 0, max: Infinity }
    if (accept('+')) return { min: 1, max: Infinity }
    if (accept('?')) return { min: 0, max: 1 }
    return readCounts()
  }

  /** `{n}`, `{n,}` or `{n,m}`. As in JavaScript, a brace that begins none of them is a literal. */
  const readCounts = (): { min: number; max: number } | undefined => {
    if (pattern[at] !== '{') return undefined
    const position = at
    at++
    const min = readNumber()
    const max = accept(',') ? (readNumber() ?? Infinity) : min
    if (min === undefined || max === undefined || !accept('}')) {
      at = position
      return undefined
    }
    if (max < min) throw fail('the counts are out of order', position)
    if (min > MAX_COUNT || (max !== Infinity && max > MAX_COUNT)) throw tooLarge(pattern)
    return { min, max }
  }

  const readNumber = (): number | undefined => {
    const position = at
    while (at < pattern.length && DIGITS[pattern.charCodeAt(at)] === 1) at++
    return at === position ? undefined : Number(pattern.slice(position, at))
  }

  const readAtom = (): Expression => {
    const position = at
    if (accept('^')) return { kind: 'assert', what: 'start' }
    if (accept('$')) return { kind: 'assert', what: 'end' }
    if (accept('.')) return { kind: 'set', set: ANY }
    if (accept('(')) return readGroup(position)
    if (accept('[')) return { kind: 'set', set: readClass(position) }
    if (accept('\\b')) return { kind: 'assert', what: 'word-boundary' }
    if (accept('\\B')) return { kind: 'assert', what: 'no-word-boundary' }
    if (accept('\\')) {
      const escaped = readEscape(position)
      return { kind: 'set', set: typeof escaped === 'number' ? single(escaped) : escaped }
    }
    if (readQuantifier() !== undefined) throw fail('nothing to repeat', position)
    return { kind: 'set', set: single(readLiteral()) }
  }

  const readGroup = (position: number): Expression => {
    if (++nesting > MAX_NESTING) throw fail(`groups are nested more than ${MAX_NESTING} deep`, position)
    if (accept('?')) {
      const isNamed = pattern[at] === '<' && /^<[A-Za-z_$][\w$]*>/.test(pattern.slice(at, at + 100))
      if (isNamed) at = pattern.indexOf('>', at) + 1
      else if (!accept(':')) {
        const lookaround = ['=', '!', '<=', '<!'].some((mark) => pattern.startsWith(mark, at))
        throw fail(
          lookaround ? 'look-around is not supported' : 'unknown kind of group',
          position,
          'patterns run in linear time, which rules out look-around; combine an include and an exclude instead',
        )
      }
    }
    const inner = readChoice()
    if (!accept(')')) throw fail('this group is not closed', position)
    nesting--
    return inner
  }

  const readClass = (position: number): CharSet => {
    const set = new Uint8Array(128)
    const negated = accept('^')
    while (!accept(']')) {
      if (at >= pattern.length) throw fail('this class is not closed', position)
      const from = readClassMember()
      const isRange = pattern[at] === '-' && at + 1 < pattern.length && pattern[at + 1] !== ']'
      if (!isRange) {
        if (typeof from === 'number') set[from] = 1
        else for (const [code, member] of from.entries()) if (member === 1) set[code] = 1
        continue
      }
      const dash = at++
      const to = readClassMember()
      if (typeof from !== 'number' || typeof to !== 'number') throw fail('a range needs two characters', dash)
      if (to < from) throw fail('this range is out of order', dash)
      set.fill(1, from, to + 1)
    }
    return negated ? opposite(set) : set
  }

  const readClassMember = (): number | CharSet => {
    const position = at
    if (accept('\\b')) return 8
    return accept('\\') ? readEscape(position) : readLiteral()
  }

  const readEscape = (position: number): number | CharSet => {
    const letter = pattern[at]
    if (letter === undefined) throw fail('a lone backslash', position)
    const set = CLASS_ESCAPES[letter]
    const control = CONTROL_ESCAPES[letter]
    if (set !== undefined || control !== undefined) {
      at++
      return set ?? control!
    }
    if (letter === 'x' || letter === 'u') return readHexEscape(position, letter === 'x' ? 2 : 4)
    if (letter === '0' && DIGITS[pattern.charCodeAt(at + 1)] !== 1) {
      at++
      return 0
    }
    if (DIGITS[letter.charCodeAt(0)] === 1 || letter === 'k') {
      throw fail('back-references are not supported', position, 'patterns run in linear time, which rules them out')
    }
    if (WORD[letter.charCodeAt(0)] === 1 && letter !== '_') throw fail(`unknown escape \\${letter}`, position)
    return readLiteral()
  }

  const readHexEscape = (position: number, digits: number): number => {
    const text = pattern.slice(at + 1, at + 1 + digits)
    if (text.length !== digits || !/^[0-9a-f]+$/i.test(text))
      throw fail(`\\${pattern[at]} needs ${digits} hex digits`, position)
    at += 1 + digits
    return asciiOnly(parseInt(text, 16), position)
  }

  const readLiteral = (): number => {
    const code = pattern.codePointAt(at)!
    const position = at
    at += code > 0xff_ff ? 2 : 1
    return asciiOnly(code, position)
  }

  const asciiOnly = (code: number, position: number): number => {
    if (code < 128) return code
    const encoded = encodeURIComponent(String.fromCodePoint(code).toWellFormed())
    throw fail(`"${String.fromCodePoint(code)}" cannot occur in a URL`, position, `in a path or query write ${encoded}`)
  }

  const single = (code: number): CharSet => charSet((other) => other === code)

  const expression = readChoice()
  if (at < pattern.length) throw fail('a ")" without a "("')
  return expression
}
