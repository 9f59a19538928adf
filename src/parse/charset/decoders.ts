/** Bytes to text in a given encoding, by the Encoding Standard: Node's decoders, and ours where Node's depart from it. */
import { decodeBig5 } from './big5.ts'
import { decodeEucKr } from './euc-kr.ts'
import { decodeEucJp, decodeIso2022Jp, decodeShiftJis } from './japanese.ts'

const DECODERS: ReadonlyMap<string, (bytes: Uint8Array) => string> = new Map([
  ['big5', decodeBig5],
  ['euc-jp', decodeEucJp],
  ['euc-kr', decodeEucKr],
  ['iso-2022-jp', decodeIso2022Jp],
  ['shift_jis', decodeShiftJis],
  // "replacement" stands for encodings that hide markup from filters: one U+FFFD and no content (Encoding §14.1).
  ['replacement', (bytes) => (bytes.length === 0 ? '' : '\ufffd')],
])

/** `charset` is a name of the standard in lower case. A byte order mark of that encoding is not part of the text. */
export function decodeText(bytes: Uint8Array, charset: string): string {
  return DECODERS.get(charset)?.(bytes) ?? new TextDecoder(charset).decode(bytes)
}
