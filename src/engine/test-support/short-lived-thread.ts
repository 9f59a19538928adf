/** A thread of a crawl that is gone as soon as it has a lease. */
import { parentPort, type MessagePort } from 'node:worker_threads'
import type { LeaseAnswer } from '../../frontier/index.ts'
import { openLine } from '../crew/line.ts'

const port = parentPort as MessagePort
const ask = async (): Promise<void> => {
  const { leases } = await line.call<LeaseAnswer>('lease', { worker: 'here', want: 1, unproven: 1, request: '0' })
  if (leases.length > 0) process.exit(1)
}
const line = openLine(port, {
  look: ask,
  resize: () => {},
  abort: () => {},
  stop() {
    line.tell('ended')
    line.flush()
    port.close()
  },
})
line.tell('ready')
await ask()
