/**
 * The memory, which is as large as `build.mjs` says. Who uses it from outside (src/parse/html/page-machine.ts) has the same
 * numbers.
 */

/** One bit for each shape of a name that is not passed over. */
export const SHAPES: usize = 0
/** The number of links found, and where the value of each begins and ends. */
export const LINK_COUNT: usize = 0x1000
export const LINKS: usize = 0x1010
export const MAX_LINKS: i32 = 1024
/** The page, up to 4 MiB. Sixteen bytes behind it may be looked at, and count for nothing. */
export const PAGE: usize = 0x4000

/** What the references of a page may depend on: its origin, its folder, and the folders that `./`, `../` and so on lead to. */
export const ORIGIN: usize = 0x41_0000
export const FOLDER: usize = 0x41_0004
export const CLIMBED: usize = 0x41_0008
export const MAX_CLIMB: i32 = 31

/** References that are looked for together: where each begins and ends; what it leads to takes the place of its begin. */
export const REFERENCES: usize = 0x41_1000
export const MAX_REFERENCES: i32 = 4096

/** What is remembered: a line of four words for each reference, and its bytes. */
export const SETS: usize = 8192
export const WAYS: usize = 4
export const LINES: usize = 0x42_0000
export const LINE_SIZE: usize = 16
export const TEXTS: usize = 0x4a_0000
export const TEXT_SIZE: usize = 128
export const MEMORY_END: usize = 0x8a_0000

export function byteAt(at: i32): u8 {
  return load<u8>(PAGE + at)
}
