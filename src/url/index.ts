/**
 * URLs: what is fetched, what is the same, whose it is, and whether it belongs to the crawl. Only this module makes
 * the branded strings of `model/url.ts`.
 */
export { MAX_REFERENCE_LENGTH, MAX_URL_LENGTH, normalizeUrl } from './normalize.ts'
export {
  createLinkResolver,
  isIndependentOfPage,
  NOWHERE,
  type LinkResolver,
  type ReferenceBases,
} from './link-resolver.ts'
export { createResolver, type Resolver } from './resolver.ts'
export { keyOfNormalized, urlKey } from './key.ts'
export { hostKey, originOf, pathOf, registrableDomain, targetOf } from './parts.ts'
export { compilePattern, MAX_PATTERN_LENGTH, type Pattern } from './pattern.ts'
export { hasParts, shapeOf, type UrlPart, type UrlShape } from './shape.ts'
export { createScope, SCOPE_MODES, type Scope, type ScopeMode, type ScopeOptions, type ScopeVerdict } from './scope.ts'
export {
  createParameterStripper,
  isParameterPattern,
  MAX_PARAMETER_LENGTH,
  TRACKING,
  TRACKING_PARAMETERS,
  type ParameterStripper,
} from './tracking.ts'
