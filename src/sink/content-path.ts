/**
 * The file that a page's content is written to: `https://example.com/docs/intro.html` → `example.com/docs/intro.html.md`.
 * The path depends on the URL alone, so a page keeps its file from crawl to crawl, and it says what it holds.
 *
 * Kept true, on any file system, also one that ignores case or Unicode normalisation:
 * - Two URLs never share a file. A URL whose path is spelled in plain characters (`a-z 0-9 . _ - + , = @`) is its own
 *   file name. For any other the names are made safe and `~` with 60 bits of the URL's SHA-256 is added to the file; `~`
 *   is not plain, so the two kinds never meet.
 * - A file is never where a folder must be. A file ends in its extension; a folder never ends in what could be one.
 * - Every name is at most 100 bytes, the path at most 220; no name is reserved on Windows, begins with a dot or a dash,
 *   ends in a dot, or holds control, bidirectional or shell characters.
 *
 * https on its default port is the plain case. Otherwise the host's folder says so: `example.com_http`,
 * `example.com_8080` for http, `example.com_8443_https`.
 */
import { createHash } from 'node:crypto'
import type { NormalizedUrl } from '../model/index.ts'
import { hostKey, originOf, pathOf } from '../url/index.ts'

/** In bytes of UTF-8. */
export const MAX_NAME_BYTES = 100
export const MAX_PATH_BYTES = 220

const MAX_EXTENSION_LENGTH = 8
const HASH_LENGTH = 12
const MAX_STEM_BYTES = MAX_NAME_BYTES - MAX_EXTENSION_LENGTH - 1
const MAX_HASHED_STEM_BYTES = MAX_STEM_BYTES - HASH_LENGTH - 1
/** The file of a URL that ends in a slash. */
const INDEX = 'index'

/** A name made safe. It is `plain` if nothing had to change: then, and only then, it stands for its URL alone. */
interface SafeName {
  readonly name: string
  readonly plain: boolean
}

/** Relative to `content/`, with forward slashes. `extension` has two to eight lower-case letters or digits, a letter first. */
export function contentPath(url: NormalizedUrl, extension: string): string {
  if (!/^[a-z][a-z0-9]{1,7}$/.test(extension)) throw new RangeError(`not an extension of content: ${extension}`)
  const origin = originOf(url)
  const path = pathOf(url)
  const query = url.slice(origin.length + path.length)
  const lastSlash = path.lastIndexOf('/')
  // A longer path is not shown in full, so there is no need to cut more of it into segments.
  const isWhole = path.length <= MAX_PATH_BYTES
  const segments = lastSlash === 0 ? [] : path.slice(1, lastSlash).split('/', MAX_PATH_BYTES)

  const host = hostFolder(url, origin)
  const folders = segments.map(folderName)
  const stem = fileStem(path.slice(lastSlash + 1), query)
  const plainPath = [host, ...folders, stem].map(({ name }) => name).join('/')
  const isPlain =
    isWhole &&
    [host, stem, ...folders].every(({ plain }) => plain) &&
    plainPath.length <= MAX_PATH_BYTES - MAX_EXTENSION_LENGTH - 1
  if (isPlain) return `${plainPath}.${extension}`

  const file = `${cutToBytes(stem.name, MAX_HASHED_STEM_BYTES)}~${shortHash(url)}`
  const room = MAX_PATH_BYTES - MAX_EXTENSION_LENGTH - 1 - Buffer.byteLength(file)
  return `${joinWithin(host.name, folders, room)}/${file}.${extension}`
}

/** Host and folders, as many of the outer ones as there is room for. */
function joinWithin(host: string, folders: readonly SafeName[], room: number): string {
  let joined = host
  let bytes = Buffer.byteLength(host) + 1
  for (const { name } of folders) {
    bytes += Buffer.byteLength(name) + 1
    if (bytes > room) break
    joined += `/${name}`
  }
  return joined
}

function hostFolder(url: NormalizedUrl, origin: string): SafeName {
  const host = hostKey(url)
  const isHttps = origin.startsWith('https:')
  const port = /:(\d+)$/.exec(origin)?.[1]
  // A final dot of the host name, which the key lacks, is a difference that only the hash can show.
  const written = host.length + (port === undefined ? 0 : port.length + 1) + (isHttps ? 8 : 7)
  const mark = port === undefined ? (isHttps ? '' : '_http') : isHttps ? `_${port}_https` : `_${port}`
  const readable = host.startsWith('[') ? `ipv6-${host.slice(1, -1).replaceAll(':', '-')}` : host
  const safe = safeName(readable, MAX_NAME_BYTES - mark.length)
  const isAmbiguous = /_(?:http|\d+(?:_https)?)$/.test(host)
  return {
    name: safe.name + mark,
    plain: safe.plain && readable === host && !isAmbiguous && written === origin.length,
  }
}

function folderName(segment: string): SafeName {
  const safe = safeName(segment, MAX_NAME_BYTES - 1)
  // Other letters may fold to ASCII's in ways that a file system knows and we do not.
  const name = Buffer.byteLength(safe.name) === safe.name.length ? safe.name : safe.name.replaceAll('.', '_')
  return /\.[a-z][a-z0-9]{1,7}$/i.test(name) ? { name: `${name}_`, plain: false } : { ...safe, name }
}

function fileStem(segment: string, query: string): SafeName {
  if (query !== '')
    return { name: safeName(segment === '' ? INDEX + query : segment + query, MAX_STEM_BYTES).name, plain: false }
  if (segment === '') return { name: INDEX, plain: true }
  const safe = safeName(segment, MAX_STEM_BYTES)
  return segment === INDEX ? { ...safe, plain: false } : safe
}

const PLAIN = /^[a-z0-9_+,=@][a-z0-9._+,=@-]*$/
const RESERVED = /^(?:con|prn|aux|nul|(?:com|lpt)[\d¹²³])(?:\.|$)/i

function safeName(text: string, maxBytes: number): SafeName {
  if (
    text.length <= maxBytes &&
    PLAIN.test(text) &&
    !text.endsWith('.') &&
    !text.includes('..') &&
    !RESERVED.test(text)
  ) {
    return { name: text, plain: true }
  }
  const readable = decodeOctets(text.slice(0, 4 * maxBytes))
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}._+,=@-]+/gu, '_')
    .replace(/\.{2,}/g, '.')
    .replace(/^(?=[.-]|\p{M})/u, '_')
  const cut = cutToBytes(RESERVED.test(readable) ? `_${readable}` : readable, maxBytes).replace(/[.]$/, '_')
  return { name: cut === '' ? '_' : cut, plain: false }
}

/** Percent-encoded UTF-8 as text; octets that are none become replacement characters, and those are not kept. */
function decodeOctets(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'))
}

function cutToBytes(text: string, maxBytes: number): string {
  let bytes = 0
  let end = 0
  for (const character of text) {
    bytes += Buffer.byteLength(character)
    if (bytes > maxBytes) return text.slice(0, end)
    end += character.length
  }
  return text
}

/** The first 60 bits of the URL's SHA-256 as 12 digits of base 32 (`0`–`9`, `a`–`v`): shorter than hex, blind to case. */
function shortHash(url: string): string {
  const digest = createHash('sha256').update(url).digest()
  const half = (offset: number): string =>
    (digest.readUInt32BE(offset) >>> 2).toString(32).padStart(HASH_LENGTH / 2, '0')
  return half(0) + half(4)
}
