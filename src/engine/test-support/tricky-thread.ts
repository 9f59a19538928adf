/** A thread of a crawl that pages can take down, by their path. */
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { readDocument } from '../../reading/index.ts'
import type { ThreadData } from '../crew/thread-data.ts'
import { workInThread } from '../crew/thread-work.ts'

await workInThread(parentPort as MessagePort, workerData as ThreadData, (input) => {
  if (input.url.endsWith('/exit')) process.exit(1)
  if (input.url.endsWith('/memory')) {
    for (const kept: number[][] = []; ;) kept.push(Array.from({ length: 1_000 }, () => 1))
  }
  return readDocument(input)
})
