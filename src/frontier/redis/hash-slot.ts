/** Which of a cluster's slots has a key: CRC16 (XMODEM) of the part between the first braces, or of all of it. */

export const SLOTS = 16_384

const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021
  return crc & 0xffff
})

export function hashSlot(key: string): number {
  const open = key.indexOf('{')
  const close = open === -1 ? -1 : key.indexOf('}', open + 1)
  const tagged = close > open + 1 ? key.slice(open + 1, close) : key
  let crc = 0
  for (const byte of Buffer.from(tagged)) crc = ((crc << 8) & 0xffff) ^ (TABLE[(crc >> 8) ^ byte] as number)
  return crc % SLOTS
}
