/** The program of a thread that works on a crawl. It loads what the thread of the frontier has compiled, if it has. */
import { enableCompileCache, flushCompileCache } from 'node:module'
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import type { ThreadData } from './thread-data.ts'

const data = workerData as ThreadData
if (data.compileCache !== undefined) enableCompileCache(data.compileCache)
const { workInThread } = await import('./thread-work.ts')
flushCompileCache()
await workInThread(parentPort as MessagePort, data)
