import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { NormalizedUrl } from '../../model/index.ts'
import { createLinkReader, createLinkWriter } from './link-book.ts'

const link = fc.integer({ min: 0, max: 40 }).map((number) => `https://a.test/${number}` as NormalizedUrl)

test('what is written is read again, however often the book is begun anew', () => {
  fc.assert(
    fc.property(fc.array(fc.array(link, { maxLength: 20 })), fc.integer({ min: 1, max: 30 }), (pages, mostUrls) => {
      const writer = createLinkWriter(mostUrls)
      const reader = createLinkReader()
      // As it is after it has gone from one thread to another.
      for (const page of pages) expect(reader.read(structuredClone(writer.write(page)))).toEqual(page)
    }),
  )
})

test('a URL is spelled out once', () => {
  const writer = createLinkWriter()
  const page = ['https://a.test/a', 'https://a.test/b'] as NormalizedUrl[]
  expect(writer.write(page).spelled).toBe('https://a.test/a\nhttps://a.test/b')
  expect(writer.write(page)).toMatchObject({ spelled: '', isNewBook: false })
})
