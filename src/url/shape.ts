/**
 * The shape of a URL: what it has in common with others that the same program made. Numbers and random tokens are left
 * open, so that `/calendar/2027/03` and `/calendar/2031/11` have one template; the parts that may turn out to say
 * nothing (a parameter, a session id in the path) are listed, and the URL can be written without them.
 *
 * Pure, and linear in the URL: of a hostile one only the first segments and parameters are looked at.
 */
import type { NormalizedUrl } from '../model/index.ts'
import { pathStart, queryStart } from './parts.ts'

/** Further ones are one part together. */
const MAX_SEGMENTS = 48
const MAX_PARAMETERS = 24
/** Parts that may be left out, at most. */
const MAX_PARTS = 8
/** Longest row of segments that is looked for again behind itself. */
const MAX_REPEATED_SEGMENTS = 4
/** Folders that a path may have been led through, at most. */
const MAX_DETOUR = 4

export interface UrlShape {
  /** The path with `#` for numbers and `*` for random tokens. */
  readonly template: string
  /** Whether the template stands for more than one path. */
  readonly isOpen: boolean
  /** The templates of the folders that it lies in, the outermost first, without the root. */
  readonly folders: readonly string[]
  /** Segments of the path. */
  readonly depth: number
  /** Those that are more than a number or a letter. */
  readonly names: number
  /** Names of the query's parameters, sorted, each once. */
  readonly keys: readonly string[]
  readonly parameters: number
  /** Whether the values of all parameters are numbers. */
  readonly isNumbered: boolean
  /** A parameter that is there twice with the same value. */
  readonly doubled: string | undefined
  /** Parts that it could be written without. */
  readonly parts: readonly UrlPart[]
  /** Segments that follow on themselves. */
  readonly repeated: { readonly segments: string; readonly times: number } | undefined
  /** How often the segment that occurs most often does, numbers aside. */
  readonly recurrences: number
  /** Whether a segment occurs again that is a word. In a tree of folders with names of one letter each soon does. */
  readonly isRecurrent: boolean
  /** The names of its folders, the outermost first, as they are. */
  readonly folderNames: readonly string[]
  /** Whether a year and a smaller number stand in it. */
  readonly hasDate: boolean
  /** The URL without some of its parts. */
  without(parts: ReadonlySet<string>): string
  /** Paths of which this one is the end: `/b/c` and `/c` for `/a/b/c`; none for a URL with a query. */
  readonly endings: readonly string[]
  /**
   * Paths that this one becomes without the folders just before its end: `/docs/old/x` and `/docs/x` for
   * `/docs/old/more/x`. At least one folder is left of each, the longest comes first, and all that are left out have names;
   * none for a URL with a query.
   */
  readonly detours: readonly string[]
}

export interface UrlPart {
  /** The name of a parameter, `;name` for one in the path, `(S)` or `*2` for a segment, `&` for the parameters' order. */
  readonly name: string
  readonly isRandom: boolean
  /** It bears a name that sessions have. */
  readonly isSession: boolean
}

interface Pair {
  readonly name: string
  readonly text: string
}

/** All at once, into plain fields: whoever asks for one asks for nearly all, and getters would cost each object more. */
export function shapeOf(url: NormalizedUrl): UrlShape {
  const start = pathStart(url)
  const question = queryStart(url)
  const segments = cut(url.slice(start + 1, question), '/', MAX_SEGMENTS)
  const pairs = question >= url.length - 1 ? [] : cut(url.slice(question + 1), '&', MAX_PARAMETERS).map(pairOf)
  const bare = segments.map(withoutParameters)
  const named = bare.filter((segment) => segment !== '')
  const templates = bare.map(templateOf)
  const template = `/${templates.join('/')}`
  const recurrences = recurrencesOf(named, 1)
  return {
    template,
    isOpen: template.includes('#') || template.includes('*'),
    folders: foldersOf(templates),
    depth: named.length,
    names: named.reduce((count, segment) => count + Number(segment.length > 1 && isName(segment)), 0),
    keys: pairs.length === 0 ? [] : [...new Set(pairs.map(({ name }) => name))].sort(),
    parameters: pairs.length,
    isNumbered: pairs.every((pair) => /^\d+$/.test(valueOf(pair))),
    doubled: doubledOf(pairs),
    parts: partsOf(segments, bare, pairs),
    repeated: repetitionOf(named),
    recurrences,
    isRecurrent: recurrences > 1 && recurrencesOf(named, 2) > 1,
    folderNames: bare.slice(0, -1).filter(isName),
    hasDate: hasDate(url.slice(start)),
    without: (left) => url.slice(0, start) + written(segments, pairs, left),
    endings: pairs.length > 0 ? [] : endingsOf(bare),
    detours: pairs.length > 0 ? [] : detoursOf(bare),
  }
}

/** A query, a parameter or a session in the path, the digits of a year, a segment that may be random: nearly none is plain. */
const MAY_HAVE_PARTS =
  /[?;(]|(?:19|20|21)\d\d|\/(?=[a-z]*\d)[\da-z]{8,}(?:\/|$)|\/[a-z]{16,}(?:\/|$)|[\da-f]{8}-[\da-f]{4}-/i

/** Whether a URL has parts or a date; of most that have none, at a fraction of the cost of their shape. */
export function hasParts(url: NormalizedUrl): boolean {
  if (!MAY_HAVE_PARTS.test(url.slice(pathStart(url)))) return false
  const { parts, hasDate } = shapeOf(url)
  return parts.length > 0 || hasDate
}

/** The pieces between the separators; the last one has the rest when there are too many. */
function cut(text: string, separator: string, max: number): string[] {
  const pieces: string[] = []
  let from = 0
  for (let at = text.indexOf(separator); at !== -1 && pieces.length < max - 1; at = text.indexOf(separator, from)) {
    pieces.push(text.slice(from, at))
    from = at + 1
  }
  pieces.push(text.slice(from))
  return pieces
}

function pairOf(text: string): Pair {
  const equals = text.indexOf('=')
  return { name: equals === -1 ? text : text.slice(0, equals), text }
}

const valueOf = ({ name, text }: Pair): string => text.slice(name.length + 1)

function withoutParameters(segment: string): string {
  const semicolon = segment.indexOf(';')
  return semicolon === -1 ? segment : segment.slice(0, semicolon)
}

function templateOf(segment: string): string {
  if (isSessionSegment(segment)) return '(S)'
  return isRandom(segment) ? '*' : segment.replaceAll(/\d+/g, '#')
}

/** ASP.NET writes its sessions into the path: `/(S(lit3py55t21z5v55vlm25s55))/`. */
function isSessionSegment(segment: string): boolean {
  return segment.length <= 200 && /^\((?:[A-Z]\([^()]*\))+\)$/.test(segment)
}

function foldersOf(templates: readonly string[]): string[] {
  const folders: string[] = []
  let folder = '/'
  for (const template of templates.slice(0, -1)) {
    folder += `${template}/`
    folders.push(folder)
  }
  return folders
}

function partsOf(segments: readonly string[], bare: readonly string[], pairs: readonly Pair[]): UrlPart[] {
  const parts = new Map<string, UrlPart>()
  const add = (name: string, value: string, session: boolean): void => {
    if (parts.size >= MAX_PARTS && !parts.has(name)) return
    const isRandomHere = isRandom(value) || (parts.get(name)?.isRandom ?? false)
    parts.set(name, { name, isRandom: isRandomHere, isSession: session })
  }
  segments.forEach((segment, index) => {
    const path = bare[index] as string
    if (segment.length > path.length) {
      const { name, text } = pairOf(segment.slice(path.length + 1))
      add(`;${name.toLowerCase()}`, valueOf({ name, text }), SESSION_NAMES.test(name))
    }
    if (isSessionSegment(path)) add('(S)', path, true)
    else if (isRandom(path)) add(`*${index}`, path, false)
  })
  for (const pair of pairs) add(pair.name, valueOf(pair), SESSION_NAMES.test(pair.name))
  if (pairs.length > 1) add('&', '', false)
  return [...parts.values()]
}

const SESSION_NAMES = /^(?:(?:php|asp|j|cf)?_?sess(?:ion)?_?(?:id|key|token)?|aspsessionid\w*|sid|cfid|cftoken|s_?id)$/i

/** Letters and digits in turns, as no word has them; a UUID; a long row of hex digits. */
function isRandom(text: string): boolean {
  if (text.length < 8 || text.length > 512) return false
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text)) return true
  let digits = 0
  let letters = 0
  let switches = 0
  let before = 0
  for (let at = 0; at < text.length; at++) {
    const kind = kindOfUnit(text.charCodeAt(at))
    if (kind === OTHER) return false
    if (kind === DIGIT) digits++
    else letters++
    // Small and capital letters in turns count as well; a capital at the beginning of a word is no turn of its own.
    if (at > 0 && kind !== before && !(before === CAPITAL && kind === SMALL)) switches++
    before = kind
  }
  if (digits === 0) return letters >= 16 && switches >= 4
  return letters >= 2 && digits >= 2 && switches >= Math.max(3, text.length / 8)
}

const OTHER = 0
const DIGIT = 1
const SMALL = 2
const CAPITAL = 3

function kindOfUnit(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return DIGIT
  if (unit >= 0x61 && unit <= 0x7a) return SMALL
  return unit >= 0x41 && unit <= 0x5a ? CAPITAL : OTHER
}

function written(segments: readonly string[], pairs: readonly Pair[], parts: ReadonlySet<string>): string {
  const path = segments
    .map((segment, index) => {
      const bare = withoutParameters(segment)
      if (parts.has(`*${index}`) || (parts.has('(S)') && isSessionSegment(bare))) return '*'
      const parameter =
        segment.length > bare.length ? `;${pairOf(segment.slice(bare.length + 1)).name.toLowerCase()}` : ''
      return parts.has(parameter) ? bare : segment
    })
    .join('/')
  const left = pairs.filter(({ name }) => !parts.has(name)).map(({ text }) => text)
  if (parts.has('&')) left.sort()
  return `/${path}${left.length === 0 ? '' : `?${left.join('&')}`}`
}

function doubledOf(pairs: readonly Pair[]): string | undefined {
  if (pairs.length < 2) return undefined
  const seen = new Set<string>()
  for (const { text } of pairs) {
    if (text !== '' && seen.has(text)) return text
    seen.add(text)
  }
  return undefined
}

/** The row of segments that follows on itself most often, if any does. Rows of numbers are dates and the like. */
function repetitionOf(segments: readonly string[]): UrlShape['repeated'] {
  let most: { segments: string; times: number } | undefined
  for (let length = 1; length <= MAX_REPEATED_SEGMENTS; length++) {
    let run = 0
    for (let at = length; at < segments.length; at++) {
      run = segments[at] === segments[at - length] ? run + 1 : 0
      const times = Math.floor(run / length) + 1
      if (times <= (most?.times ?? 1)) continue
      const row = segments.slice(at - length + 1, at + 1)
      if (row.some(isName)) most = { segments: `/${row.join('/')}`, times }
    }
  }
  return most
}

/** How often the segment of at least this length that occurs most often does. There are few: no table is needed. */
function recurrencesOf(segments: readonly string[], shortest: number): number {
  let most = 0
  for (let at = 0; at < segments.length; at++) {
    const segment = segments[at] as string
    if (segment.length < shortest || !isName(segment)) continue
    let count = 1
    for (let other = at + 1; other < segments.length; other++) if (segments[other] === segment) count++
    most = Math.max(most, count)
  }
  return most
}

const isName = (segment: string): boolean => /[^\d.,_-]/.test(segment)

/** A year, and a number that may be a month, a day or a week, in the path or the query. */
function hasDate(target: string): boolean {
  if (!/\d{4}/.test(target)) return false
  let years = 0
  let others = 0
  for (const [digits] of target.slice(0, 512).matchAll(/\d+/g)) {
    if (digits.length === 8 && /^(?:19|20|21)\d\d(?:0\d|1[012])[0-3]\d$/.test(digits)) return true
    if (digits.length === 6 && /^(?:19|20|21)\d\d(?:0\d|1[012])$/.test(digits)) return true
    if (digits.length === 4 && /^(?:19|20|21)/.test(digits)) years++
    else if (digits.length <= 2) others++
  }
  return years > 0 && others > 0
}

function endingsOf(bare: readonly string[]): string[] {
  const endings: string[] = []
  let ending = ''
  for (let at = bare.length - 1; at > 0; at--) {
    ending = `/${bare[at] as string}${ending}`
    if (ending !== '/' && endings.length < MAX_PARTS) endings.push(ending)
  }
  return endings
}

/** Numbers and single letters are no names: they are what trees are made of. */
function detoursOf(bare: readonly string[]): string[] {
  const end = bare.at(-1) === '' ? bare.length - 2 : bare.length - 1
  const detours: string[] = []
  for (let left = end - 1; left > 0 && left >= end - MAX_DETOUR; left--) {
    const folder = bare[left] as string
    if (folder.length < 2 || !isName(folder)) break
    detours.push(`/${[...bare.slice(0, left), ...bare.slice(end)].join('/')}`)
  }
  return detours
}
