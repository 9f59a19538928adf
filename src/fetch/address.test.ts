import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createAddressGuard, isPublicAddress } from './index.ts'

describe('isPublicAddress', () => {
  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '128.0.0.1',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.0.9',
    '192.0.0.10',
    '192.31.196.1',
    '192.52.193.1',
    '192.175.48.1',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2001:4860:4860::8888',
    '2001:4860:4860:0000:0000:0000:0000:8888',
    '2001:4860:4860::8.8.8.8',
    '[2606:4700:4700::1111]',
    '2620:4f:8000::1',
    '2001:1::1',
    '2001:3::1',
    '2001:4:112::1',
    '2001:20::1',
    '2001:200::1',
    '::ffff:8.8.8.8',
    '::FFFF:808:808',
    '0:0:0:0:0:ffff:0808:0808',
    '64:ff9b::8.8.8.8',
    '2002:808:808::1',
  ])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  test.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '10.255.255.255',
    '100.64.0.1',
    '100.127.255.255',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.0.0.8',
    '192.0.0.170',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.7',
    '203.0.113.7',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '0:0:0:0:0:0:0:1',
    '[::1]',
    '::127.0.0.1',
    '::8.8.8.8',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:10.0.0.1',
    '::ffff:0:8.8.8.8',
    '64:ff9b::127.0.0.1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::8.8.8.8',
    '100::1',
    '100:0:0:1::1',
    '2001::1',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '2001:2::1',
    '2001:10::1',
    '2001:1::4',
    '2001:db8::1',
    '2002:7f00:1::1',
    '2002:c0a8:101::1',
    '3fff::1',
    '3fff:fff:ffff::1',
    '4000::1',
    '5f00::1',
    'fc00::1',
    'fd12:3456:789a::1',
    'fe80::1',
    'fe80::1%eth0',
    'febf::1',
    'fec0::1',
    'ff02::1',
  ])('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })

  test.each([
    '',
    ' ',
    'localhost',
    'example.com',
    '8.8.8',
    '8.8.8.8.8',
    '08.8.8.8',
    '0x08.8.8.8',
    '134744072',
    '256.1.1.1',
    '8.8.8.8 ',
    '-1.2.3.4',
    '1.2.3.4/8',
    '8.8.8.8:80',
    ':::',
    '1::2::3',
    '2001:4860',
    '2001:4860:4860:0:0:0:0:0:8888',
    '2001:4860:4860::88888',
    '2001:4860::g',
    '::1.2.3',
    '1.2.3.4::',
    '[2001:4860::1',
    '２００１::1',
    '9'.repeat(10_000),
    ':'.repeat(10_000),
  ])('%j cannot be read, so it is not public', (text) => {
    expect(isPublicAddress(text)).toBe(false)
  })

  test('an IPv4 address is as public as its mapped, translated and 6to4 spellings', () => {
    const octet = fc.integer({ min: 0, max: 255 })
    fc.assert(
      fc.property(octet, octet, octet, octet, (a, b, c, d) => {
        const plain = `${a}.${b}.${c}.${d}`
        const high = ((a << 8) | b).toString(16)
        const low = ((c << 8) | d).toString(16)
        const verdict = isPublicAddress(plain)
        expect(isPublicAddress(`::ffff:${plain}`)).toBe(verdict)
        expect(isPublicAddress(`::ffff:${high}:${low}`)).toBe(verdict)
        expect(isPublicAddress(`64:ff9b::${high}:${low}`)).toBe(verdict)
        expect(isPublicAddress(`2002:${high}:${low}::1`)).toBe(verdict)
      }),
    )
  })

  test('all spellings of an IPv6 address get one verdict', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 }), (groups) => {
        const short = groups.map((group) => group.toString(16)).join(':')
        const long = groups.map((group) => group.toString(16).padStart(4, '0').toUpperCase()).join(':')
        const browser = new URL(`http://[${short}]/`).hostname
        expect(isPublicAddress(long)).toBe(isPublicAddress(short))
        expect(isPublicAddress(browser)).toBe(isPublicAddress(short))
      }),
    )
  })

  test('any text gets a verdict', () => {
    fc.assert(fc.property(fc.string(), (text) => typeof isPublicAddress(text) === 'boolean'))
  })
})

describe('the address guard', () => {
  test('permits what is public and what is listed, and nothing else', () => {
    const guard = createAddressGuard(['127.0.0.0/8', '10.1.2.3', 'fd00::/8', '169.254.169.254/32'])
    expect(guard.permits('8.8.8.8')).toBe(true)
    expect(guard.permits('127.9.9.9')).toBe(true)
    expect(guard.permits('10.1.2.3')).toBe(true)
    expect(guard.permits('10.1.2.4')).toBe(false)
    expect(guard.permits('fd12::1')).toBe(true)
    expect(guard.permits('fc00::1')).toBe(false)
    expect(guard.permits('::1')).toBe(false)
    expect(guard.permits('garbage')).toBe(false)
  })

  test('takes a mapped IPv4 address for the address itself, and no other embedding', () => {
    const guard = createAddressGuard(['127.0.0.1', '::ffff:10.0.0.0/104'])
    expect(guard.permits('::ffff:127.0.0.1')).toBe(true)
    expect(guard.permits('10.200.0.1')).toBe(true)
    expect(guard.permits('64:ff9b::127.0.0.1')).toBe(false)
    expect(guard.permits('2002:7f00:1::')).toBe(false)
  })

  test('an allowed range of everything permits everything that is an address', () => {
    const guard = createAddressGuard(['0.0.0.0/0', '::/0'])
    expect(guard.permits('127.0.0.1')).toBe(true)
    expect(guard.permits('fe80::1%eth0')).toBe(true)
    expect(guard.permits('localhost')).toBe(false)
  })

  test.each(['', 'localhost', '10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/-1', '10.0.0.0/8/8', '10/8'])(
    'says that %j is wrong usage',
    (text) => {
      expect(() => createAddressGuard([text])).toThrow(expect.objectContaining({ code: 'usage' }))
    },
  )
})
