/** robots.txt, RFC 9309: what a file says to us about a URL. Fetching, caching and expiry are the engine's. */
export { parseRobots, type Robots, type RobotsVerdict } from './robots.ts'
export { ROBOTS_MAX_BYTES } from './octets.ts'
export { ROBOTS_MAX_SITEMAPS } from './groups.ts'
export { ROBOTS_MAX_MATCH_STEPS } from './rules.ts'
export { ROBOTS_MAX_SIGNAL_LINES } from './signals.ts'
