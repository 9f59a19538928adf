/** The memory home: the whole contract, nothing durable. */
import type { Clock } from '../../base/index.ts'
import type { Frontier, FrontierOptions } from '../contract.ts'
import { createRules } from '../rules.ts'
import { createMemoryStorage } from './storage.ts'

export function createMemoryFrontier(options: FrontierOptions, deps: { readonly clock: Clock }): Frontier {
  return createRules(createMemoryStorage(), { ...options, uncleanAt: null }, deps)
}
