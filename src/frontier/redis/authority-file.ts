/** The certificates that a store's own is checked against, from a person's file. */
import { readFileSync } from 'node:fs'
import { TiptoeError } from '../../model/index.ts'

export function readAuthority(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new TiptoeError('usage', `the certificates in ${file} cannot be read`, { cause })
  }
}
