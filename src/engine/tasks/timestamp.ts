/** Times as the records have them. */

/** ISO 8601 in UTC, to the millisecond. */
export function timestamp(time: number): string {
  return new Date(time).toISOString()
}
