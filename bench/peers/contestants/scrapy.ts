/**
 * Scrapy of Debian: a CrawlSpider with its own LinkExtractor, robots.txt on, 32 requests at once for all and for one
 * host, no delay. Nothing is written.
 */
import { join } from 'node:path'
import { CONCURRENCY, type Contestant } from '../contestant.ts'
import { unpackPackages } from '../debian.ts'

/** Debian's modules are for Debian's Python, whichever comes first in the path. */
const PYTHON = '/usr/bin/python3'

export const scrapy: Contestant = {
  name: 'Scrapy',
  setUp({ home, url }) {
    const unpacked = unpackPackages(join(home, 'scrapy'), ['python3-scrapy'])
    if (typeof unpacked === 'string') return unpacked
    return {
      program: PYTHON,
      words: [join(import.meta.dirname, 'scrapy-spider.py'), url, String(CONCURRENCY)],
      env: unpacked.env,
    }
  },
}
