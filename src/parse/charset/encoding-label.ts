/**
 * Names of character encodings (Encoding Standard §4.2, "get an encoding"): any label a page may use, to the standard's
 * lower-case name. Node's `TextDecoder` knows the labels; this file adds the ones it refuses, and decodes nothing.
 */
import { createLru } from '../../base/index.ts'

/** Labels of the `replacement` encoding, which `TextDecoder` must refuse by its own specification. */
const REPLACEMENT_LABELS = new Set([
  'replacement',
  'csiso2022kr',
  'hz-gb-2312',
  'iso-2022-cn',
  'iso-2022-cn-ext',
  'iso-2022-kr',
])

/** The longest label of the standard has 19 characters; longer ones are not worth a look-up. */
const MAX_LABEL_CHARS = 32

/** Labels are few, but a page may invent any number of them: remember only so many answers. */
const MAX_REMEMBERED_LABELS = 256
const remembered = createLru<string, string | null>(MAX_REMEMBERED_LABELS)

/** The standard's name of the encoding that `label` stands for, in lower case; null if it stands for none. */
export function encodingOfLabel(label: string): string | null {
  const known = remembered.get(label)
  if (known !== undefined) return known
  // A long label is not remembered either, so the memory of this cache is bounded too.
  const name = trimAsciiWhitespace(label).toLowerCase()
  if (name.length === 0 || name.length > MAX_LABEL_CHARS || !/^[!-~]+$/.test(name)) return null
  const encoding = REPLACEMENT_LABELS.has(name) ? 'replacement' : encodingOfDecoder(name)
  if (label.length <= MAX_LABEL_CHARS) remembered.set(label, encoding)
  return encoding
}

function encodingOfDecoder(name: string): string | null {
  try {
    return new TextDecoder(name).encoding
  } catch {
    return null
  }
}

/** Tab, line feed, form feed, carriage return and space, and nothing else (Infra Standard §4.6). */
export function isAsciiWhitespace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0d || code === 0x0c
}

export function trimAsciiWhitespace(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isAsciiWhitespace(text.charCodeAt(start))) start++
  while (end > start && isAsciiWhitespace(text.charCodeAt(end - 1))) end--
  return start === 0 && end === text.length ? text : text.slice(start, end)
}
