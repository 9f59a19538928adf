/** What takes part in the comparison: a program that is fetched into a folder of its own, and how it is started. */

/** Requests at once, for all that can be told. */
export const CONCURRENCY = 32

/** What a contestant is given to set itself up. */
export interface Setting {
  /** Where it may put programs and modules; kept from one run of the benchmark to the next. */
  readonly home: string
  /** The page to begin with. */
  readonly url: string
  /** The host of that page, without its port. */
  readonly host: string
  /** A folder for what it writes, empty before every run. */
  readonly out: string
}

export interface Command {
  readonly program: string
  readonly words: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

export interface Contestant {
  readonly name: string
  /** How to start it, or why that cannot be done here. */
  setUp(setting: Setting): Promise<Command | string> | Command | string
}
