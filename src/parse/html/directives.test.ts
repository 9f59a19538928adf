import { expect, test } from 'vitest'
import { parseDirectives } from '../index.ts'

const FREE = { index: true, follow: true }
const NOINDEX = { index: false, follow: true }
const NOFOLLOW = { index: true, follow: false }
const NONE = { index: false, follow: false }

test.each([
  [[], FREE],
  [['all'], FREE],
  [['index, follow'], FREE],
  [['NOINDEX'], NOINDEX],
  [['noindex nofollow'], NONE],
  [['noarchive,nofollow'], NOFOLLOW],
  [[' none '], NONE],
  [['index', 'noindex'], NOINDEX],
  [['all, noindex'], NOINDEX],
  [['noindexed'], FREE],
  [['max-snippet:50, nofollow'], NOFOLLOW],
])('meta %j means %j', (meta, directives) => {
  expect(parseDirectives(meta, [], 'Tiptoe')).toEqual(directives)
})

test.each([
  [['noindex'], NOINDEX],
  [['noindex, nofollow'], NONE],
  [['noindex', 'nofollow'], NONE],
  [['googlebot: noindex'], FREE],
  [['googlebot: noindex, nofollow'], FREE],
  [['TIPTOE: noindex, nofollow'], NONE],
  [['googlebot: noindex, tiptoe: nofollow'], NOFOLLOW],
  [['googlebot: noindex', 'nofollow'], NOFOLLOW],
  [['*: none'], NONE],
  [['unavailable_after: 25 Jun 2010 15:00:00 PST'], FREE],
  [['unavailable_after: 25 Jun 2010 15:00:00 PST, noindex'], NOINDEX],
  [['unavailable_after: Friday, 25-Jun-10 15:00:00 UTC, nofollow'], NOFOLLOW],
  [['otherbot: unavailable_after: 25 Jun 2010 15:00:00 PST, noindex'], FREE],
  [['max-snippet: 20, max-image-preview: large, noindex'], NOINDEX],
  [['tiptoe:noindex'], NOINDEX],
  [[''], FREE],
  [[':', ',,'], FREE],
])('X-Robots-Tag %j means %j', (header, directives) => {
  expect(parseDirectives([], header, 'Tiptoe')).toEqual(directives)
})
