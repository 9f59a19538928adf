/**
 * The server and the cluster that all test files share. Nobody may harm them: tests keep apart by the names of their
 * crawls, and those that kill, freeze or fill a server start their own.
 */
import { inject } from 'vitest'

/** The store URL of a single server. */
export const sharedRedis = (): Promise<string> => ask('single')

/** The store URL of a cluster of three primaries and three replicas. */
export const sharedCluster = (): Promise<string> => ask('cluster')

async function ask(which: 'single' | 'cluster'): Promise<string> {
  const response = await fetch(`${inject('redisBroker')}/${which}`)
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text
}
