import { describeFrontier } from '../../../test/conformance/frontier.ts'
import { createMemoryFrontier } from './index.ts'

describeFrontier('memory', (options, clock) => createMemoryFrontier({ hostsKept: undefined, ...options }, { clock }))
