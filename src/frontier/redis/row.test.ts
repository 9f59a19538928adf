import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sharedRedis } from '../../../test/support/redis/shared.ts'
import type { NormalizedUrl } from '../../model/index.ts'
import { normalizeUrl, originOf } from '../../url/index.ts'
import { readRow, stowRow, writeRow, type Row } from './row.ts'
import { partitionScript } from './scripts.ts'
import { openTestStore } from './test-support/open-test-store.ts'

const url = fc.webUrl({ withQueryParameters: true }).map((text) => normalizeUrl(text) as NormalizedUrl)
const row: fc.Arbitrary<Row> = fc
  .record({
    name: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
    kind: fc.constantFrom('page', 'sitemap'),
    slot: fc.constantFrom('high', 'medium', 'low', 'auto'),
    rank: fc.nat(2 ** 31),
    depth: fc.nat(1_000),
    attempts: fc.nat(20),
    foundHour: fc.nat(1_000_000),
    redirects: fc.nat(20),
    nesting: fc.nat(3),
    via: fc.constantFrom('seed', 'link', 'sitemap', 'redirect', 'canonical'),
    reason: fc.constantFrom('', 'probe', 'host-budget', 'a long number: 12'),
    url,
    referrer: fc.option(url, { nil: undefined }),
  } as const)
  .map(({ referrer, ...rest }) => (referrer === undefined ? rest : { ...rest, referrer }))

test('a row is read as it was written', () => {
  fc.assert(
    fc.property(row, (written) => {
      expect(readRow(writeRow(written))).toEqual(written)
    }),
  )
})

test('a row with a referrer on its own site is little longer than its URL and the rest of the other', () => {
  const text = writeRow({
    name: '-9223372036854775808',
    kind: 'page',
    slot: 'auto',
    rank: 185_714,
    depth: 12,
    attempts: 0,
    foundHour: 480_000,
    redirects: 0,
    nesting: 0,
    via: 'link',
    reason: '',
    url: 'https://example.com/articles/2024/one' as NormalizedUrl,
    referrer: 'https://example.com/articles/' as NormalizedUrl,
  })
  expect(text.length - 'https://example.com/articles/2024/one'.length).toBeLessThanOrEqual(60)
})

describe('a row as it stands in a list', () => {
  test('is the same by script and by client, and comes out as it went in', async () => {
    const text = `
local out = {}
for _, asked in ipairs(ASKED.rows) do
  local stored = stow_row(asked[1])
  out[#out + 1] = { stored, unstow_row(stored, asked[2], asked[3], asked[4]), row_origin(asked[1]), row_name(asked[1]) }
end
return cjson.encode(out)`
    const script = partitionScript('stow', text)
    const { link, store } = await openTestStore(await sharedRedis(), { partitions: 1 })
    const rows = fc.sample(row, { numRuns: 300, seed: 1 })
    const asked = rows.map((each) => [writeRow(each), originOf(each.url), each.slot, each.rank])
    const partition = store.partitions[0]
    const reply = await partition?.call(script, partition.keys.fixed, { rows: asked })
    expect(reply).toEqual(rows.map((each) => [stowRow(each), writeRow(each), originOf(each.url), each.name]))
    await link.close()
  })
})
