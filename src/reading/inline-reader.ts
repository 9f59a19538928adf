/**
 * Documents read where they are handed in, for the simulation, which has a time of its own, and for whoever wants no
 * threads. An error costs its document; a document that takes too much time or memory is not stopped.
 */
import type { DocumentInput, ReadingOf } from './document.ts'
import { readDocument } from './read-document.ts'
import type { Reader } from './reader.ts'
import { wordsOf } from './words.ts'

export function createInlineReader(): Reader {
  return {
    async read<Input extends DocumentInput>(input: Input, signal?: AbortSignal) {
      if (signal?.aborted === true) return { kind: 'aborted' }
      try {
        return { kind: 'read', reading: (await readDocument(input)) as ReadingOf<Input> }
      } catch (error) {
        return { kind: 'broke', detail: wordsOf(error) }
      }
    },
    close: async () => {},
  }
}
