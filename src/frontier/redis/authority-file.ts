/** The certificates that a store's own is checked against, from a person's file. */
import { readFileSync } from 'node:fs'
import { TiptoeError } from '../../model/index.ts'

export function readAuthority(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new TiptoeError('usage', `the certificates that --store-ca names cannot be read: ${reason}`, {
      cause,
      hint: 'name a file with the certificates in PEM form that the store is to be checked against',
    })
  }
}
