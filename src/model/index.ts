/** The nouns: types that every layer shares, and no behaviour. */
export type { HostKey, NormalizedUrl, Origin, UrlKey, UrlNumbering } from './url.ts'
export {
  TIERS,
  type Change,
  type ContentSample,
  type FoundUrl,
  type LastVisit,
  type Task,
  type TaskKind,
  type Tier,
  type Via,
  type Visit,
} from './task.ts'
export { FAILURES, SKIP_REASONS, type FailureCode, type Outcome, type SkipReason } from './outcome.ts'
export { UNKNOWN_HEALTH, type HostHealth, type HostPolicy, type HostRecord, type RobotsRecord } from './host.ts'
export {
  RECORD_SCHEMA,
  type ContentSignals,
  type DuplicateBy,
  type FailRecord,
  type Heading,
  type Page,
  type PageRecord,
  type RevisitRecord,
  type RobotsDirectives,
  type SkipRecord,
  type TdmReservation,
} from './page.ts'
export type { CrawlEvents, ImpoliteRequest } from './event.ts'
export { LIMITS, type Limit, type LimitName } from './limits.ts'
export { TiptoeError, type ErrorCode } from './errors.ts'
export type { Whole } from './whole.ts'
