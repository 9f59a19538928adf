/** The language that a page states, as a tag of RFC 5646; whether there is such a language is not looked at. */
import { trimAsciiWhitespace } from '../charset/encoding-label.ts'

/** Longer than any tag in use. */
const MAX_LANG_CHARS = 64

/** The value of a `lang` attribute. */
export function usableLanguage(value: string | undefined): string | undefined {
  if (value === undefined || value.length > MAX_LANG_CHARS) return undefined
  const collapsed = value.replaceAll('\0', '\ufffd').replaceAll(/\s+/g, ' ').trim()
  return collapsed === '' ? undefined : collapsed.toWellFormed()
}

/**
 * The value of Content-Language, as a header or as a pragma. It names one language; a list of several names none (HTML
 * Standard §4.2.5.3, content-language state).
 */
export function languageOfList(value: string | null | undefined): string | undefined {
  if (value === null || value === undefined || value.includes(',')) return undefined
  return usableLanguage(trimAsciiWhitespace(value).split(/[\t\n\f\r ]/, 1)[0])
}
