/** A thread of a crawl that pages can take down, by their path. */
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { readDocument } from '../../reading/index.ts'
import type { ThreadData } from '../crew/thread-data.ts'
import { workInThread } from '../crew/thread-work.ts'

await workInThread(parentPort as MessagePort, workerData as ThreadData, (input) => {
  if (input.url.endsWith('/exit')) process.exit(1)
  if (input.url.endsWith('/memory')) {
    // Numbers that are no objects: the collector does not look at them, so the memory is full before the guard loses patience.
    for (const kept: number[][] = []; ;) kept.push(Array<number>(100_000).fill(0.5))
  }
  return readDocument(input)
})
