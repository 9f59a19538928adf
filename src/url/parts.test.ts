import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { HostKey, NormalizedUrl } from '../model/index.ts'
import { hostKey, normalizeUrl, originOf, pathOf, registrableDomain, targetOf } from './index.ts'

const url = (text: string): NormalizedUrl => normalizeUrl(text)!

describe('the parts of a URL', () => {
  it.each([
    ['https://Example.com/a', 'example.com'],
    ['https://example.com:8443/', 'example.com'],
    ['https://example.com./', 'example.com'],
    ['https://example.com.:8443/', 'example.com'],
    ['http://[::1]/', '[::1]'],
    ['http://[::1]:8080/x', '[::1]'],
    ['http://127.0.0.1:3000/', '127.0.0.1'],
    ['http://./', '.'],
  ])('the host key of %s is %s', (text, host) => expect(hostKey(url(text))).toBe(host))

  it('agree with the URL parser', () => {
    const scheme = fc.constantFrom('http', 'https')
    const host = fc.constantFrom('a.test', 'A_b.Test', '[2001:db8::1]', '10.0.0.1', 'bücher.example', 'localhost')
    const port = fc.constantFrom('', ':80', ':443', ':8080', ':0')
    const rest = fc.string({ unit: fc.constantFrom('/', '?', ':', '@', '#', 'a', 'é', '[', ']', '.'), maxLength: 8 })
    fc.assert(
      fc.property(scheme, host, port, rest, (scheme, host, port, rest) => {
        const parsed = new URL(`${scheme}://${host}${port}/${rest}`)
        const normal = url(parsed.href)
        expect(originOf(normal)).toBe(parsed.origin)
        expect(pathOf(normal)).toBe(parsed.pathname)
        expect(targetOf(normal)).toBe(normal.slice(parsed.origin.length))
        expect(hostKey(normal)).toBe(parsed.hostname)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('registrableDomain', () => {
  it.each([
    ['docs.example.co.uk', 'example.co.uk'],
    ['example.com', 'example.com'],
    ['a.b.github.io', 'b.github.io'],
    ['github.io', 'github.io'],
    ['co.uk', 'co.uk'],
    ['localhost', 'localhost'],
    ['127.0.0.1', '127.0.0.1'],
    ['[2001:db8::1]', '[2001:db8::1]'],
    ['my_host.example.com', 'example.com'],
  ])('of %s is %s', (host, domain) => expect(registrableDomain(host as HostKey)).toBe(domain))
})
