/**
 * A reservation of text and data mining (TDM Reservation Protocol, W3C community group): `tdm-reservation: 1` and
 * `tdm-policy: URL`, as headers or as meta elements of these names. Where the two disagree, the reservation counts:
 * whoever made it meant it. `/.well-known/tdmrep.json` is not asked for.
 */
import type { NormalizedUrl, TdmReservation } from '../../model/index.ts'
import { normalizeUrl } from '../../url/index.ts'

/** Values of one header that are read. */
const MAX_VALUES = 8

export interface TdmStatement {
  /** `1`: rights are reserved; `0`: they are not. Anything else says nothing. */
  readonly reservation?: string | null | undefined
  readonly policy?: string | null | undefined
}

/** Null when none of the statements says anything. */
export function tdmOf(statements: readonly TdmStatement[], url: NormalizedUrl): TdmReservation | null {
  if (statements.every(({ reservation }) => reservation == null)) return null
  const said = statements.flatMap(({ reservation, policy }) =>
    // A header that is sent twice arrives as a list.
    valuesOf(reservation).map((value) => ({ isReserved: value === '1', policy })),
  )
  if (said.length === 0) return null
  const reserving = said.filter(({ isReserved }) => isReserved)
  if (reserving.length === 0) return { reserved: false }
  for (const { policy } of [...reserving, ...statements]) {
    const resolved = policy == null || policy.trim() === '' ? undefined : normalizeUrl(policy.trim(), url)
    if (resolved !== undefined) return { reserved: true, policy: resolved }
  }
  return { reserved: true }
}

function valuesOf(reservation: string | null | undefined): string[] {
  const values = (reservation ?? '').split(',', MAX_VALUES).map((value) => value.trim())
  return values.filter((value) => value === '0' || value === '1')
}
