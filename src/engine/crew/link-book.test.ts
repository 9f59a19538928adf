import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { FoundUrl, NormalizedUrl } from '../../model/index.ts'
import { createLinkReader, createLinkWriter } from './link-book.ts'

const found: fc.Arbitrary<FoundUrl> = fc
  .record(
    {
      number: fc.integer({ min: 0, max: 40 }),
      kind: fc.constantFrom('page' as const, 'sitemap' as const),
      depth: fc.integer({ min: 0, max: 2 }),
      referrer: fc.constantFrom('https://a.test/1', 'https://a.test/2'),
      tier: fc.constantFrom('high' as const, 'low' as const),
      modifiedAt: fc.integer({ min: 0, max: 1 }),
    },
    { requiredKeys: ['number', 'kind', 'depth'] },
  )
  .map(({ number, ...how }) => ({ ...how, via: 'link', url: `https://a.test/${number}` }) as FoundUrl)

test('what is written is read again, however often the book is begun anew', () => {
  fc.assert(
    fc.property(fc.array(fc.array(found, { maxLength: 20 })), fc.integer({ min: 1, max: 30 }), (pages, mostUrls) => {
      const writer = createLinkWriter(mostUrls)
      const reader = createLinkReader()
      // As it is after it has gone from one thread to another.
      for (const page of pages) expect(reader.read(structuredClone(writer.write(page)))).toEqual(page)
    }),
  )
})

test('a URL is spelled out once', () => {
  const writer = createLinkWriter()
  const page = ['a', 'b'].map((path): FoundUrl => ({
    url: `https://a.test/${path}` as NormalizedUrl,
    kind: 'page',
    depth: 1,
    via: 'link',
  }))
  expect(writer.write(page).spelled).toBe('https://a.test/a\nhttps://a.test/b')
  expect(writer.write(page)).toMatchObject({ spelled: '', isNewBook: false })
})
