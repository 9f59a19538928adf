/**
 * Finds places in the bytes of a page: by the page machine, which is three times as fast as the same in JavaScript. A page
 * that is too large for it is searched the plain way, and so is every page where the processor is too old or no memory can
 * be had: bytes are found, and no tag is passed over.
 */
import type { NameShapes } from './name-table.ts'
import { LINK_COUNT, LINKS, MAX_PAGE_BYTES, pageMachine, type PageMachine } from './page-machine.ts'

export interface PageSearch {
  /** The place of the next such byte, or the size of the page. */
  find(byte: number, from: number): number
  /**
   * The place of a `<` before which there are only text and tags that can be passed over, or the size of the page. These
   * are tags with names of other shapes than these, and, where links are taken, start tags of `a` with an `href` and no
   * `rel`, which are told in their order, and its end tags.
   */
  pass(from: number, shapes: NameShapes, onLink: ((valueStart: number, valueEnd: number) => void) | undefined): number
}

export function searchIn(source: Buffer): PageSearch {
  if (pageMachine === undefined || source.length > MAX_PAGE_BYTES) return slowSearchIn(source)
  return fastSearchIn(source, pageMachine)
}

function fastSearchIn(source: Buffer, machine: PageMachine): PageSearch {
  const size = source.length
  return {
    find(byte, from) {
      machine.load(source)
      return machine.find(byte, from, size)
    },
    pass(from, shapes, onLink) {
      machine.load(source)
      machine.mark(shapes)
      const place = machine.pass(from, size, onLink === undefined ? 0 : 1)
      if (onLink !== undefined) {
        const { words } = machine
        const end = LINKS + 2 * (words[LINK_COUNT] as number)
        for (let at = LINKS; at < end; at += 2) onLink(words[at] as number, words[at + 1] as number)
      }
      return place
    },
  }
}

/** The plain way. Exported for the tests, whose processor is not too old. */
export function slowSearchIn(source: Buffer): PageSearch {
  const find = (byte: number, from: number): number => {
    const place = source.indexOf(byte, from)
    return place === -1 ? source.length : place
  }
  return { find, pass: (from) => find(0x3c, from) }
}
