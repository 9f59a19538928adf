/** What a crawl tells of itself. */
export { createEventBus, type EventBus } from './event-bus.ts'
export { countEvents } from './event-counts.ts'
export { createRateMeter, type RateMeter } from './rate.ts'
