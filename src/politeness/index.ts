/** What a host permits: its pace, its rules, what its refusals mean, and whether all of that was kept. */
export { createPolitenessAudit, type PolitenessAudit, type PolitenessAuditOptions } from './audit.ts'
export { answered, isGivenUp, refused, unreachable, type Setback } from './backoff.ts'
export { longestRetryAfter } from './retry-after.ts'
export { createHostLimiter, type HostLimiter } from './limiter.ts'
export { createHostRegistry, type HostRegistry, type HostRegistryOptions, type RobotsVerdict } from './registry.ts'
