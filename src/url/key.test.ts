import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { normalizeUrl, urlKey } from './index.ts'

const urlText = fc
  .array(
    fc.constantFrom(
      '/',
      '?',
      '%',
      '%2',
      '%7e',
      '%7E',
      '%41',
      '%2f',
      '%c3%a9',
      '%%34%31',
      '%4',
      '1',
      '41',
      'a',
      'F',
      '.',
      '~',
      '&',
      '#',
    ),
    { maxLength: 12 },
  )
  .map((parts) => `http://a.test/${parts.join('')}`)

describe('urlKey', () => {
  it.each([
    ['https://a.test/%7euser', 'https://a.test/~user'],
    ['https://a.test/%41%5a%2d%2E%5f', 'https://a.test/AZ-._'],
    ['https://a.test/%c3%a9?%3d', 'https://a.test/%C3%A9?%3D'],
    ['HTTP://A.Test:80/b/../c', 'http://a.test/c'],
    ['http://a.test/x#y', 'http://a.test/x'],
    ['http://user:pw@a.test/', 'http://a.test/'],
    ['http://a.test', 'http://a.test/'],
    ['http://a.test/%', 'http://a.test/%'],
    ['http://a.test/%%34%31', 'http://a.test/%%341'],
    ['http://a.test/%4%31', 'http://a.test/%4%31'],
    ['http://a.test/%2541', 'http://a.test/%2541'],
    ['http://a.test/?{a|b}^`\\', 'http://a.test/?%7Ba%7Cb%7D%5E%60%5C'],
    ['http://a.test/?%7ba%7cb%7d', 'http://a.test/?%7Ba%7Cb%7D'],
  ])('of %s is %s', (url, key) => expect(urlKey(url)).toBe(key))

  it.each([
    ['http://a.test/', 'https://a.test/'],
    ['http://a.test/x', 'http://a.test/x/'],
    ['http://a.test/x', 'http://a.test/x?'],
    ['http://a.test/?a=1&b=2', 'http://a.test/?b=2&a=1'],
    ['http://a.test/X', 'http://a.test/x'],
    ['http://a.test/a%2Fb', 'http://a.test/a/b'],
    ['http://a.test/a%26b', 'http://a.test/a&b'],
    ['http://a.test/a+b', 'http://a.test/a%20b'],
    ['http://a.test/index.html', 'http://a.test/'],
    ['http://a.test/a//b', 'http://a.test/a/b'],
    ['http://a.test/?a[0]', 'http://a.test/?a%5B0%5D'],
    ['http://a.test:8080/', 'http://a.test/'],
  ])('tells %s from %s', (one, other) => expect(urlKey(one)).not.toBe(urlKey(other)))

  it('is its own key, and a normalised URL', () => {
    fc.assert(
      fc.property(urlText, (text) => {
        const key = urlKey(text)
        expect(urlKey(key)).toBe(key)
        expect(normalizeUrl(key)).toBe(key)
      }),
      { numRuns: 10_000 },
    )
  })

  it('is the same for a text and for its normalised form', () => {
    const start = fc.constantFrom(
      'http://a.test/',
      'HTTP://A.TEST:80/x/../',
      'http://u:p@bücher.example',
      'http://0x7f.1:8080/ ',
    )
    fc.assert(
      fc.property(start, urlText, (origin, text) => {
        const url = origin + text.slice('http://a.test'.length)
        expect(urlKey(url)).toBe(urlKey(normalizeUrl(url)!))
      }),
      { numRuns: 2000 },
    )
  })

  it('changes nothing but percent-encodings that mean the same', () => {
    fc.assert(
      fc.property(urlText, (text) => {
        const url = normalizeUrl(text)!
        const decode = (from: string): string =>
          from.replace(/%[0-9a-f]{2}/gi, (triplet) => `<${parseInt(triplet.slice(1), 16)}>`)
        const spell = (from: string): string =>
          decode(from).replace(/<(\d+)>/g, (_, octet: string) =>
            /[\w.~-]/.test(String.fromCharCode(Number(octet))) ? String.fromCharCode(Number(octet)) : `<${octet}>`,
          )
        // Where a lone `%` is near, both spellings are kept apart; everywhere else the key spells out the same octets.
        if (!/%(?![0-9a-f]{2})/i.test(url)) expect(decode(urlKey(url))).toBe(spell(url))
      }),
      { numRuns: 5000 },
    )
  })

  it('of text that is no web URL is the text', () => {
    for (const text of ['', 'mailto:%7e', 'ht%74p://a.test/', '//a.test/%7e']) expect(urlKey(text)).toBe(text)
  })
})
