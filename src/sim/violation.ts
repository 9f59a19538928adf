/** Something that must never happen, happened: a bug of ours, with what is needed to find it. */
export class Violation extends Error {
  override readonly name = 'Violation'
  /** Which law was broken: `pace`, `robots`, `conservation` … */
  readonly law: string
  /** The host or URL. */
  readonly subject: string

  constructor(law: string, subject: string, detail: string) {
    super(`${law}: ${subject}: ${detail}`)
    this.law = law
    this.subject = subject
  }
}
