import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { HostKey, NormalizedUrl } from '../model/index.ts'
import { createKnownLinks } from './known-links.ts'

const host = 'a.test' as HostKey
const urlOf = (id: number): NormalizedUrl => `https://a.test/${id}` as NormalizedUrl

test('a link is found as it was put in, or not at all', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 30 })), { maxLength: 200 }),
      (kept, steps) => {
        const links = createKnownLinks(kept)
        const put = new Set<number>()
        for (const [isPut, id] of steps) {
          if (isPut) {
            links.put(urlOf(id), { id, host })
            put.add(id)
            expect(links.find(urlOf(id))).toEqual({ id, host })
          } else {
            const found = links.find(urlOf(id))
            expect(found === undefined || (put.has(id) && found.id === id)).toBe(true)
          }
        }
      },
    ),
  )
})

test('what is met again and again stays, while others come and go', () => {
  const links = createKnownLinks(4)
  for (let id = 1; id <= 100; id++) {
    links.put(urlOf(id), { id, host })
    if (id > 1) expect(links.find(urlOf(1))).toEqual({ id: 1, host })
  }
  expect(links.find(urlOf(50))).toBeUndefined()
})

test('a URL of any length is welcome, and a long one is not kept', () => {
  const links = createKnownLinks()
  const long = `https://a.test/${'x'.repeat(1_000)}` as NormalizedUrl
  links.put(long, { id: 1, host })
  expect(links.find(long)).toBeUndefined()
})

test('a URL is met again when it was met before, and not so many others since', () => {
  const links = createKnownLinks(8)
  expect(links.isMetAgain(1)).toBe(false)
  expect(links.isMetAgain(1)).toBe(true)
  for (let id = 2; id <= 16; id++) expect(links.isMetAgain(id)).toBe(false)
  expect(links.isMetAgain(1)).toBe(true)
  for (let id = 17; id <= 48; id++) links.isMetAgain(id)
  expect(links.isMetAgain(1)).toBe(false)
})

test('what was met by number is forgotten with its era', () => {
  const links = createKnownLinks()
  const [first, second] = [{}, {}]
  links.of(first)[7] = { id: 1, host }
  expect(links.of(first)[7]).toEqual({ id: 1, host })
  expect(links.of(second)[7]).toBeUndefined()
  expect(links.of(first)[7]).toBeUndefined()
})
