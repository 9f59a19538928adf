/** What an error says, for a record: one line, not long. Its text may hold parts of the document. */
const MAX_CHARS = 500

export function wordsOf(error: unknown): string {
  const words = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return words.replaceAll(/\s+/g, ' ').slice(0, MAX_CHARS).toWellFormed()
}
