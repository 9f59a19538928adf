import { describeFrontier } from '../../../test/conformance/frontier.ts'
import { createFrontier } from '../index.ts'

describeFrontier('memory', (options, clock) => createFrontier({ store: 'memory', clock, ...options }))
