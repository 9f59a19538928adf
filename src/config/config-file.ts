/**
 * The configuration file: YAML in, a layer out. It finds every unknown key and every syntax error and knows the line
 * of each value; what a value means is for the kinds to say. Aliases are expanded within the bounds of the YAML
 * library, so a small file cannot become a large one.
 */
import { readFileSync } from 'node:fs'
import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Document } from 'yaml'
import { TiptoeError } from '../model/index.ts'
import { describe, entriesOf, unknownKey, type Path } from './kinds.ts'
import type { Layer } from './layer.ts'
import { nearest } from './names.ts'
import { OPTIONS, sections, type Option, type OptionName, type Section } from './options.ts'

export interface ConfigFile {
  /** As a person would name it; used in messages alone. */
  readonly path: string
  readonly text: string
}

/** A configuration is written by hand; more than this is some other file. */
const MAX_CONFIG_BYTES = 4 * 1024 * 1024

/** Reads the file; `-` is stdin. A file that cannot be read is wrong usage, named by its path. */
export function readConfigFile(path: string): ConfigFile {
  let bytes: Buffer
  try {
    bytes = readFileSync(path === '-' ? 0 : path)
  } catch (cause) {
    throw new TiptoeError('usage', `the configuration file ${path} cannot be read: ${reasonOf(cause)}`, { cause })
  }
  if (bytes.length > MAX_CONFIG_BYTES) {
    throw new TiptoeError('usage', `the configuration file ${path} is larger than ${MAX_CONFIG_BYTES} bytes`)
  }
  try {
    return { path: path === '-' ? 'stdin' : path, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch (cause) {
    throw new TiptoeError('usage', `the configuration file ${path} is not UTF-8 text`, { cause })
  }
}

function reasonOf(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'EISDIR') return 'it is a folder'
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied'
  return message
}

/** The file as a layer, and what is wrong with its form. */
export function fileLayer(file: ConfigFile): { layer: Layer; problems: string[] } {
  const lines = new LineCounter()
  const values: Partial<Record<OptionName, unknown>> = {}
  const problems: string[] = []
  let document: Document | undefined

  const place = (path: Path): string => {
    const offset = document === undefined ? undefined : offsetOf(document, path)
    const where = offset === undefined ? '' : ` (${positionIn(lines, offset)})`
    return `${file.path}: ${spell(path)}${where}`
  }

  try {
    document = parseDocument(file.text, { lineCounter: lines, prettyErrors: false })
    for (const fault of [...document.errors, ...document.warnings]) {
      problems.push(`${file.path} (${positionIn(lines, fault.pos[0])}): ${fault.message}`)
    }
    if (problems.length === 0) {
      const content: unknown = document.toJS({ mapAsMap: true })
      collect(content, sections(), [], { values, problems, place, file })
    }
  } catch (error) {
    // The YAML library throws on aliases that multiply, and the stack runs out on nesting without end.
    if (!(error instanceof ReferenceError || error instanceof RangeError)) throw error
    problems.push(`${file.path}: ${error instanceof ReferenceError ? error.message : 'nested too deeply'}`)
  }

  const layer: Layer = {
    values,
    durationUnit: 's',
    place: (option, at) => place([...option.path.split('.'), ...at]),
    source(option) {
      const offset = document && offsetOf(document, option.path.split('.'))
      return `file ${file.path}${offset === undefined ? '' : `:${lines.linePos(offset).line}`}`
    },
  }
  return { layer, problems }
}

interface Collection {
  readonly values: Partial<Record<OptionName, unknown>>
  readonly problems: string[]
  readonly place: (path: Path) => string
  readonly file: ConfigFile
}

/** Takes the values of known keys; its depth is that of the table, not that of the file. */
function collect(content: unknown, section: Section, path: Path, into: Collection): void {
  // A section with nothing under it, and an empty file, say nothing.
  if (content === null || content === undefined) return
  const entries = entriesOf(content)
  const whole = section.get('enabled')
  if (typeof content === 'boolean' && whole !== undefined && !(whole instanceof Map)) {
    // `recrawl: true` is short for `recrawl: { enabled: true }`.
    into.values[whole.name] = content
    return
  }
  if (entries === undefined) {
    const where = path.length === 0 ? into.file.path : into.place(path)
    into.problems.push(
      `${where}: expected a mapping with ${[...section.keys()].join(', ')}; found ${describe(content)}`,
    )
    return
  }
  for (const [key, value] of entries) {
    const known = section.get(key)
    const inner = [...path, key]
    if (known instanceof Map) collect(value, known, inner, into)
    else if (known !== undefined) into.values[known.name] = value
    else into.problems.push(`${into.place(inner)}: ${unknownKey(key, section.keys(), elsewhere(key))}`)
  }
}

/** The full path of an option whose own key is near to `key`, for keys that stand in the wrong section. */
function elsewhere(key: string): string | undefined {
  const byKey = new Map(OPTIONS.map((option: Option) => [option.path.split('.').at(-1) ?? '', option.path]))
  return byKey.get(nearest(key, byKey.keys()) ?? '')
}

/** Where the last key or item of the path that can be found begins. */
function offsetOf(document: Document, path: Path): number | undefined {
  let node: unknown = document.contents
  let offset: number | undefined
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === step)
      if (pair === undefined) break
      if (isScalar(pair.key)) offset = pair.key.range?.[0]
      node = pair.value
    } else if (isSeq(node)) {
      node = node.items[Number(step)]
      offset = (node as { range?: [number, number, number] } | undefined)?.range?.[0] ?? offset
    } else break
  }
  return offset
}

function positionIn(lines: LineCounter, offset: number): string {
  const { line, col } = lines.linePos(offset)
  return `line ${line}, column ${col}`
}

/** `crawler.tiers[0].match`; a key with dots of its own stands in quotes. */
export function spell(path: Path): string {
  let spelled = ''
  for (const step of path) {
    if (typeof step === 'number') spelled += `[${step}]`
    else spelled += `${spelled === '' ? '' : '.'}${/^[\w-]+$/.test(step) ? step : JSON.stringify(step)}`
  }
  return spelled
}
