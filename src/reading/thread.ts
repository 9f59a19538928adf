/**
 * The program of a reading thread: says that it is ready, then reads one document after another, in order. It catches
 * nothing: after an error the state of a parser is not to be trusted, so the thread ends, and says why by ending.
 */
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import type { DocumentInput, DocumentReading } from './document.ts'
import type { readDocument } from './read-document.ts'

interface ReadingModule {
  readonly readDocument: typeof readDocument
}

const port = parentPort as MessagePort
const { module } = workerData as { readonly module: string }
const reading = (await import(module)) as ReadingModule

let last: Promise<void> = Promise.resolve()
port.on('message', (input: DocumentInput) => {
  last = last.then(async () => port.postMessage(asToldOutside(await reading.readDocument(input))))
})

/** Numbers of URLs mean nothing outside of the thread that gave them. */
function asToldOutside(read: DocumentReading): DocumentReading {
  if (read.kind !== 'page') return read
  const { numbering: _numbering, ...rest } = read
  return rest
}

port.postMessage('ready')
