/** Seeds that once failed, each with what it found. They are run for ever. */
export const KEPT_SEEDS: readonly { readonly seed: number; readonly found: string }[] = [
  { seed: 60, found: 'a robots.txt that answers 503 for ever: its record expired before the pause of its host did' },
  { seed: 363, found: 'hosts that cannot be reached: the circuit outlasted the record of their robots.txt' },
  { seed: 67, found: 'a page that answers 503 for ever: each new robots.txt ended the row of refusals' },
  { seed: 507, found: 'the same, with one such page' },
  { seed: 383, found: 'a machine that had slept: opened again, the crawl asked a host before its delay was over' },
  { seed: 50, found: 'the same: a robots.txt was asked for again while it was fresh' },
  { seed: 33, found: 'the same: the last pause of a host was taken for an older one' },
  { seed: 954, found: 'a worker kept its own old copy of a robots.txt, and put it in the place of a newer one' },
  { seed: 865, found: 'after a standstill, a host was asked again right after an answer that had waited' },
  {
    seed: 1412,
    found: 'a host that was due and had nothing to lease hid all others from a worker, and the crawl stood still',
  },
  { seed: 802, found: 'a sitemap that names a newer date brought a page back sooner than its least interval' },
]
