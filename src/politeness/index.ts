/** What a host permits: its pace, its rules, and a limiter that stands alone. */
export { createHostLimiter, type HostLimiter } from './limiter.ts'
export { createHostRegistry, type HostRegistry, type HostRegistryOptions, type RobotsVerdict } from './registry.ts'
