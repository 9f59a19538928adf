/**
 * The memory of the deflater, which is as large as `build.mjs` says. Who uses it from outside (src/sink/warc/deflater.ts)
 * has the same numbers for the text and for what is made of it. What is constant stands below all of it, from 0x400 on.
 */

/** How often there is each byte, the end of a block and each length; and each code of a distance. */
export const SYMBOL_COUNTS: usize = 0x1000
export const DISTANCE_COUNTS: usize = 0x1500
export const COUNTS_SIZE: usize = 0x600

/** The bits of each code, one byte each; those of all symbols and distances in a row. */
export const SYMBOL_BITS: usize = 0x1600
export const DISTANCE_BITS: usize = 0x1740
export const TOLD_BITS: usize = 0x1780
export const ALL_BITS: usize = 0x1800

/** A code in the lower half of a word, and how many bits it has above. */
export const SYMBOL_CODES: usize = 0x1a00
/** For distances, how many extra bits follow is in the highest byte. */
export const DISTANCE_CODES: usize = 0x1f00
export const TOLD_CODES: usize = 0x1f80
/** By the length of a repetition: its code with its extra bits. */
export const LENGTH_CODES: usize = 0x2000

/** How the codes of a block are told: a symbol and what follows it, a byte each; and how often there is each symbol. */
export const TOLD: usize = 0x2500
export const TOLD_COUNTS: usize = 0x2800

/** For the making of a code. */
export const RANKED: usize = 0x2900
export const NODES: usize = 0x2e00
export const COUNT_BY_BITS: usize = 0x3300
export const NEXT_BY_BITS: usize = 0x3380
export const PLACE_BY_COUNT: usize = 0x3800

/** The number of the code for each length of a repetition, a byte each. */
export const CODE_OF_LENGTH: usize = 0x3400

/** The code of texts: how many bits each symbol has, the codes themselves, and what a block of it begins with. */
export const TEXT_BITS: usize = 0x3600
export const TEXT_CODES: usize = 0x4000
export const TEXT_HEAD: usize = 0x4800

/** Where five bytes were met last, by their hash: few enough to stay near the processor. */
export const PLACES: usize = 0x1_0000
export const PLACE_SIZE: usize = 2
export const HASH_BITS: u32 = 14
/** What was found: for each repetition the number of bytes that stand before it, and the repetition; two words. */
export const SEQUENCES: usize = 0x2_0000
export const MAX_SEQUENCES: usize = 8192
export const SEQUENCE_SIZE: usize = 8

/** The text, up to 1,088 KiB. What lies behind it may be looked at, and counts for nothing. */
export const TEXT: usize = 0x4_0000
/** What is made of it, at most eleven bits for each byte, and a few hundred bytes for the code of each block. */
export const DEFLATED: usize = 0x16_0000
export const MEMORY_END: usize = 0x2e_0000
