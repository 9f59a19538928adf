/**
 * The language of a code block, from the names that highlighters and generators give it: `language-js`,
 * `highlight-python3` (Sphinx), `highlight-source-rust` (GitHub), `lang-c`, `brush: java`, `sourceCode haskell`.
 */
import type { Attributes } from './attributes.ts'
import { ClassMemory, classTokens } from './class-memory.ts'

const PREFIXES = [
  'language-',
  'highlight-source-',
  'highlight-text-',
  'highlight-',
  'mw-highlight-lang-',
  'lang-',
  'source-',
  'brush:',
]
/** The next class names the language. */
const MARKERS: ReadonlySet<string> = new Set(['sourcecode', 'brush:', 'hljs', 'src'])
/** Words in the place of a language that name none. */
const NOT_LANGUAGES: ReadonlySet<string> = new Set([
  'default',
  'none',
  'plaintext',
  'notranslate',
  'guess',
  'auto',
  'undefined',
  'source',
  'wrapper',
  'container',
])
/** Languages that highlighters name without a prefix. */
const LANGUAGES: ReadonlySet<string> = new Set(
  `bash cpp csharp css diff dockerfile go haskell html java javascript json kotlin lua makefile perl php powershell
  python ruby rust scala shell sql swift toml typescript xml yaml`.split(/\s+/),
)
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['python3', 'python'],
  ['pycon3', 'pycon'],
  ['ipython3', 'python'],
  ['c++', 'cpp'],
  ['objectivec', 'objc'],
])
const LANGUAGE = /^[a-z0-9][a-z0-9+#._-]{0,23}$/

/** The language that the attributes name; '' where they say there is none; undefined where they say nothing. */
export function codeLanguage(attributes: Attributes): string | undefined {
  const told = attributes['data-lang'] ?? attributes['data-language']
  if (told !== undefined && told !== '') return tidy(told.toLowerCase())
  return attributes.classMeaning(LANGUAGES_OF_CLASSES, undefined)
}

const LANGUAGES_OF_CLASSES = new ClassMemory(languageOfClass)

function languageOfClass(value: string): string | undefined {
  const tokens = classTokens(value)
  for (const [index, token] of tokens.entries()) {
    if (MARKERS.has(token) && tokens[index + 1] !== undefined) {
      const next = (tokens[index + 1] as string).replace(/^language-|;$/g, '')
      if (LANGUAGE.test(next)) return tidy(next)
    }
    for (const prefix of PREFIXES) {
      if (token.length > prefix.length && token.startsWith(prefix))
        return tidy(token.slice(prefix.length).replace(';', ''))
    }
  }
  return undefined
}

/** The same for a code block, whose class may be the language alone. */
export function blockLanguage(attributes: Attributes): string | undefined {
  const language = codeLanguage(attributes)
  if (language !== undefined || attributes.class === undefined) return language
  return classTokens(attributes.class).find((token) => LANGUAGES.has(token))
}

function tidy(language: string): string {
  if (!LANGUAGE.test(language) || NOT_LANGUAGES.has(language)) return ''
  return SYNONYMS.get(language) ?? language
}
