/** Reading what scripts answer. Lua has one kind of table: an empty list comes as an empty object. */

type List<T> = Iterable<T> & readonly T[]

/** A list, whatever it looks like when it is empty. */
export function listOf<T>(value: unknown): List<T> {
  return Array.isArray(value) ? (value as T[]) : []
}

/** A map, whatever it looks like when it is empty. */
export function mapOf<T>(value: unknown): Readonly<Record<string, T>> {
  return value === null || typeof value !== 'object' || Array.isArray(value) ? {} : (value as Record<string, T>)
}
