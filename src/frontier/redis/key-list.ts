/**
 * The keys of one script call: the fixed ones of its partition, then whatever else the call names, each once. What is
 * asked of the script refers to a key by its number, since scripts never make names.
 */
import type { PartitionKeys } from './keys.ts'

export interface KeyList {
  /** The number of a key, as Lua counts; it is declared from then on. */
  at(name: string): number
  /** All keys that are declared, in order. */
  readonly names: readonly string[]
}

export function createKeyList(keys: Pick<PartitionKeys, 'fixed'>): KeyList {
  const names = [...keys.fixed]
  const numbers = new Map<string, number>()
  return {
    at(name) {
      let number = numbers.get(name)
      if (number === undefined) {
        number = names.push(name)
        numbers.set(name, number)
      }
      return number
    },
    names,
  }
}
