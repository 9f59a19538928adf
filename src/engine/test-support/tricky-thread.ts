/** A thread of a crawl whose reader can be made to hang, to end the thread and to fail it, by the path of a page. */
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { createInlineReader } from '../../reading/index.ts'
import type { ThreadData } from '../crew/thread-data.ts'
import { workInThread } from '../crew/thread-work.ts'

const reader = createInlineReader()
await workInThread(parentPort as MessagePort, workerData as ThreadData, {
  ...reader,
  read(input, signal) {
    if (input.url.endsWith('/hang')) for (;;);
    if (input.url.endsWith('/exit')) process.exit(1)
    if (input.url.endsWith('/memory'))
      for (const kept: number[][] = []; ;) kept.push(Array.from({ length: 1_000 }, () => 1))
    return reader.read(input, signal)
  },
})
