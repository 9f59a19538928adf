/** Seeds as people write them: on the command line, in a file with one a line, or on stdin. */
import { readFileSync } from 'node:fs'
import { TiptoeError, type NormalizedUrl } from '../model/index.ts'
import { normalizeUrl } from '../url/index.ts'

/** Bad lines named in one message. */
const EXAMPLES = 5

/** A URL as typed; https is assumed where no scheme is given. */
export function readSeed(text: string): NormalizedUrl {
  const url = parse(text)
  if (url !== undefined) return url
  throw new TiptoeError('usage', `${quoted(text)} is not a URL that can be crawled`, {
    hint: 'give an http or https URL, such as https://example.com/docs/',
  })
}

/** The seeds of a file, without blank lines and `#` comments. `-` is stdin. */
export function readSeedFile(path: string): NormalizedUrl[] {
  const text = read(path)
  const seeds: NormalizedUrl[] = []
  const bad: string[] = []
  text.split(/\r\n|[\r\n]/).forEach((line, index) => {
    const entry = line.trim()
    if (entry === '' || entry.startsWith('#')) return
    const url = parse(entry)
    if (url === undefined) bad.push(`line ${index + 1}: ${quoted(entry.slice(0, 200))}`)
    else seeds.push(url)
  })
  if (bad.length > 0) {
    const more = bad.length > EXAMPLES ? ` and ${bad.length - EXAMPLES} more` : ''
    throw new TiptoeError(
      'usage',
      `${name(path)} has lines that are no URLs: ${bad.slice(0, EXAMPLES).join(', ')}${more}`,
      {
        hint: 'one http or https URL a line; lines that begin with # are left out',
      },
    )
  }
  return seeds
}

function parse(text: string): NormalizedUrl | undefined {
  // `localhost:8080` is a host with a port, `mailto:x` is a scheme that we do not speak.
  return normalizeUrl(/^[a-z][a-z0-9+.-]*:(?!\d)/i.test(text) ? text : `https://${text}`)
}

/** What is no URL for us may be the address of something else, with a password in it. */
function quoted(text: string): string {
  return JSON.stringify(text.replace(/:\/\/[^/@]*@/, '://***@'))
}

function read(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch (cause) {
    throw new TiptoeError('usage', `${name(path)} cannot be read: ${(cause as Error).message}`, { cause })
  }
}

function name(path: string): string {
  return path === '-' ? 'standard input' : path
}
