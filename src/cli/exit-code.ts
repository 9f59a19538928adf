/** Exit codes, as the documentation has them. */
import { TiptoeError, type ErrorCode } from '../model/index.ts'

export const EXIT = {
  done: 0,
  failures: 1,
  usage: 2,
  environment: 3,
  limit: 4,
  interrupt: 130,
  terminate: 143,
} as const

const BY_ERROR: Record<ErrorCode, number> = {
  usage: EXIT.usage,
  store: EXIT.environment,
  output: EXIT.environment,
  busy: EXIT.environment,
  network: EXIT.environment,
  threads: EXIT.environment,
}

export function exitCodeOf(error: unknown): number {
  return error instanceof TiptoeError ? BY_ERROR[error.code] : EXIT.environment
}
