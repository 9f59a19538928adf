/** The memory home: the whole contract, nothing durable. */
import type { Clock } from '../../base/index.ts'
import type { Frontier, FrontierOptions } from '../contract.ts'
import { createRules, type RunOptions } from '../rules.ts'
import { createMemoryStorage } from './storage.ts'

export function createMemoryFrontier(
  options: FrontierOptions & Pick<RunOptions, 'hostsKept'>,
  deps: { readonly clock: Clock },
): Frontier {
  return createRules(createMemoryStorage(), { ...options, opening: 1, reopened: null, uncleanAt: null }, deps)
}
