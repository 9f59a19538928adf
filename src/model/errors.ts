/**
 * Exceptions are for bugs and for a broken environment; whatever the web does is a value. Every error that a person
 * may see has a stable code, and a hint where there is something they can do.
 */

/** What kind of trouble it is; the command line turns it into an exit code. */
export type ErrorCode =
  /** Wrong usage or configuration: exit 2. */
  | 'usage'
  /** The store cannot be opened, read or written, or belongs to another version: exit 3. */
  | 'store'
  /** The output cannot be written: exit 3. */
  | 'output'
  /** Another process works on the same crawl: exit 3. */
  | 'busy'
  /** The machine has no network: exit 3. */
  | 'network'
  /** The machine gives no thread to work in: exit 3. */
  | 'threads'

export class TiptoeError extends Error {
  readonly code: ErrorCode
  readonly hint: string | undefined

  constructor(code: ErrorCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'TiptoeError'
    this.code = code
    this.hint = options.hint
  }
}
