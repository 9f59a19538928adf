/** The XXH64 of a page, with the seed 0, as xxHash's specification has it. */
import { byteAt, PAGE } from './layout'

const PRIME_1: u64 = 0x9e37_79b1_85eb_ca87
const PRIME_2: u64 = 0xc2b2_ae3d_27d4_eb4f
const PRIME_3: u64 = 0x1656_67b1_9e37_79f9
const PRIME_4: u64 = 0x85eb_ca77_c2b2_ae63
const PRIME_5: u64 = 0x27d4_eb2f_1656_67c5

export function hashOfPage(size: i32): u64 {
  let at = 0
  let hash = PRIME_5
  if (size >= 32) {
    let first = PRIME_1 + PRIME_2
    let second = PRIME_2
    let third: u64 = 0
    let fourth: u64 = 0 - PRIME_1
    for (; at + 32 <= size; at += 32) {
      first = mixed(first, load<u64>(PAGE + at))
      second = mixed(second, load<u64>(PAGE + at, 8))
      third = mixed(third, load<u64>(PAGE + at, 16))
      fourth = mixed(fourth, load<u64>(PAGE + at, 24))
    }
    hash = rotl(first, 1) + rotl(second, 7) + rotl(third, 12) + rotl(fourth, 18)
    hash = merged(merged(merged(merged(hash, first), second), third), fourth)
  }
  hash += size as u64
  for (; at + 8 <= size; at += 8) hash = rotl(hash ^ mixed(0, load<u64>(PAGE + at)), 27) * PRIME_1 + PRIME_4
  if (at + 4 <= size) {
    hash = rotl(hash ^ ((load<u32>(PAGE + at) as u64) * PRIME_1), 23) * PRIME_2 + PRIME_3
    at += 4
  }
  for (; at < size; at++) hash = rotl(hash ^ ((byteAt(at) as u64) * PRIME_5), 11) * PRIME_1
  hash = (hash ^ (hash >>> 33)) * PRIME_2
  hash = (hash ^ (hash >>> 29)) * PRIME_3
  return hash ^ (hash >>> 32)
}

function mixed(lane: u64, word: u64): u64 {
  return rotl(lane + word * PRIME_2, 31) * PRIME_1
}

function merged(hash: u64, lane: u64): u64 {
  return (hash ^ mixed(0, lane)) * PRIME_1 + PRIME_4
}
