import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createAddressGuard, isPublicAddress } from './index.ts'

/** The first and last address of every block of the IANA registries, and its neighbours where those are public. */
const BLOCKS: readonly {
  readonly block: string
  readonly inside: readonly string[]
  readonly beside: readonly string[]
}[] = [
  { block: '0.0.0.0/8', inside: ['0.0.0.0', '0.255.255.255'], beside: ['1.0.0.0'] },
  { block: '10.0.0.0/8', inside: ['10.0.0.0', '10.255.255.255'], beside: ['9.255.255.255', '11.0.0.0'] },
  { block: '100.64.0.0/10', inside: ['100.64.0.0', '100.127.255.255'], beside: ['100.63.255.255', '100.128.0.0'] },
  { block: '127.0.0.0/8', inside: ['127.0.0.0', '127.255.255.255'], beside: ['126.255.255.255', '128.0.0.0'] },
  { block: '168.63.129.16/32', inside: ['168.63.129.16'], beside: ['168.63.129.15', '168.63.129.17'] },
  { block: '169.254.0.0/16', inside: ['169.254.0.0', '169.254.255.255'], beside: ['169.253.255.255', '169.255.0.0'] },
  { block: '172.16.0.0/12', inside: ['172.16.0.0', '172.31.255.255'], beside: ['172.15.255.255', '172.32.0.0'] },
  {
    block: '192.0.0.0/24',
    inside: ['192.0.0.0', '192.0.0.7', '192.0.0.8', '192.0.0.11', '192.0.0.170', '192.0.0.171', '192.0.0.255'],
    beside: ['191.255.255.255', '192.0.0.9', '192.0.0.10', '192.0.1.0'],
  },
  { block: '192.0.2.0/24', inside: ['192.0.2.0', '192.0.2.255'], beside: ['192.0.1.255', '192.0.3.0'] },
  { block: '192.88.99.0/24', inside: ['192.88.99.0', '192.88.99.255'], beside: ['192.88.98.255', '192.88.100.0'] },
  { block: '192.168.0.0/16', inside: ['192.168.0.0', '192.168.255.255'], beside: ['192.167.255.255', '192.169.0.0'] },
  { block: '198.18.0.0/15', inside: ['198.18.0.0', '198.19.255.255'], beside: ['198.17.255.255', '198.20.0.0'] },
  { block: '198.51.100.0/24', inside: ['198.51.100.0', '198.51.100.255'], beside: ['198.51.99.255', '198.51.101.0'] },
  { block: '203.0.113.0/24', inside: ['203.0.113.0', '203.0.113.255'], beside: ['203.0.112.255', '203.0.114.0'] },
  { block: '224.0.0.0/4', inside: ['224.0.0.0', '239.255.255.255'], beside: ['223.255.255.255'] },
  { block: '240.0.0.0/4', inside: ['240.0.0.0', '255.255.255.254', '255.255.255.255'], beside: [] },
  { block: '192.31.196.0/24 (AS112)', inside: [], beside: ['192.31.196.0', '192.31.196.255'] },
  { block: '192.52.193.0/24 (AMT)', inside: [], beside: ['192.52.193.0', '192.52.193.255'] },
  { block: '192.175.48.0/24 (AS112)', inside: [], beside: ['192.175.48.0', '192.175.48.255'] },
  { block: '::/128 and ::1/128', inside: ['::', '::1', '0:0:0:0:0:0:0:0', '[::1]'], beside: [] },
  { block: '::/96', inside: ['::2', '::8.8.8.8', '::127.0.0.1', '::ffff:ffff'], beside: [] },
  { block: '::ffff:0:0/96', inside: ['::ffff:0:0', '::ffff:127.0.0.1'], beside: ['::ffff:8.8.8.8'] },
  { block: '::ffff:0:0:0/96', inside: ['::ffff:0:8.8.8.8', '::ffff:0:127.0.0.1'], beside: [] },
  { block: '64:ff9b::/96', inside: ['64:ff9b::', '64:ff9b::a9fe:a9fe'], beside: ['64:ff9b::8.8.8.8'] },
  { block: '64:ff9b::/96, but longer', inside: ['64:ff9b:0:0:0:1:808:808', '64:ff9a::8.8.8.8'], beside: [] },
  { block: '64:ff9b:1::/48', inside: ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:808:808'], beside: [] },
  { block: '100::/64', inside: ['100::', '100::ffff:ffff:ffff:ffff'], beside: [] },
  { block: '100:0:0:1::/64', inside: ['100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff'], beside: [] },
  { block: 'below 2000::/3', inside: ['1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'], beside: ['2000::'] },
  {
    block: '2001::/23',
    inside: ['2001::', '2001:0:4136:e378:8000:63bf:3fff:fdd2', '2001:1::', '2001:1::4', '2001:1ff:ffff::'],
    beside: ['2000:ffff::', '2001:1::1', '2001:1::2', '2001:1::3', '2001:200::'],
  },
  { block: '2001:2::/48', inside: ['2001:2::', '2001:2:0:ffff::'], beside: [] },
  { block: '2001:3::/32', inside: [], beside: ['2001:3::', '2001:3:ffff::'] },
  { block: '2001:4:112::/48', inside: ['2001:4::', '2001:4:111::', '2001:4:113::'], beside: ['2001:4:112::1'] },
  { block: '2001:10::/28', inside: ['2001:10::', '2001:1f:ffff::'], beside: [] },
  { block: '2001:20::/28 and 2001:30::/28', inside: ['2001:40::'], beside: ['2001:20::', '2001:2f::', '2001:3f::'] },
  { block: '2001:db8::/32', inside: ['2001:db8::', '2001:db8:ffff::'], beside: ['2001:db7::1', '2001:db9::1'] },
  { block: '2002::/16', inside: ['2002::', '2002:7f00:1::1', '2002:c0a8:101::'], beside: ['2002:808:808::1'] },
  { block: '2620:4f:8000::/48 (AS112)', inside: [], beside: ['2620:4f:8000::', '2620:4f:8000:ffff::'] },
  { block: '3fff::/20', inside: ['3fff::', '3fff:fff:ffff::'], beside: ['3ffe:ffff::', '3fff:1000::'] },
  { block: 'above 2000::/3', inside: ['4000::', '5f00::', '5f00:ffff::', '8000::', 'e000::', 'fbff::'], beside: [] },
  { block: 'fc00::/7', inside: ['fc00::', 'fd00:ec2::254', 'fdff:ffff::'], beside: [] },
  { block: 'fe80::/10', inside: ['fe80::', 'fe80::1%eth0', 'febf:ffff::'], beside: [] },
  { block: 'fec0::/10', inside: ['fec0::', 'feff:ffff::'], beside: [] },
  { block: 'ff00::/8', inside: ['ff00::', 'ff02::1', 'ff0e::1', 'ffff:ffff::'], beside: [] },
  {
    block: 'ISATAP interface identifiers',
    inside: ['2606:4700::5efe:10.0.0.1', '2606:4700::200:5efe:7f00:1', '2606:4700:0:1:0:5efe:a9fe:a9fe'],
    beside: ['2606:4700::5efe:8.8.8.8', '2606:4700::200:5efe:808:808', '2606:4700::1:5efe:a00:1'],
  },
  {
    block: 'zones',
    inside: ['2606:4700::1%eth0', '[2606:4700::1%25]', '::ffff:8.8.8.8%1'],
    beside: ['2606:4700::1'],
  },
]

describe('isPublicAddress', () => {
  test.each(BLOCKS)('$block', ({ inside, beside }) => {
    expect(inside.filter(isPublicAddress)).toEqual([])
    expect(beside.filter((address) => !isPublicAddress(address))).toEqual([])
  })

  test.each([
    '2001:4860:4860::8888',
    '2001:4860:4860:0000:0000:0000:0000:8888',
    '2001:4860:4860::8.8.8.8',
    '[2606:4700:4700::1111]',
    '[2606:4700:4700::AAAA]',
    '::FFFF:808:808',
    '0:0:0:0:0:ffff:0808:0808',
  ])('%s is public in this notation too', (address) => {
    expect(isPublicAddress(address)).toBe(true)
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
    '2606:4700::1%',
    '2606:4700::1%a b',
    '2606:4700::1%a%b',
    '[8.8.8.8]',
    '8.8.8.8%eth0',
    '8.8.8.8.',
    '0x8080808',
    '010.8.8.8',
    '８.8.8.8',
    '8。8。8。8',
    '٨.8.8.8',
    '::ffff:08.8.8.8',
    '::ffff:8.8.8.8.8',
    '::ffff:8.8.2056',
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

  test('says what an address is that it does not permit', () => {
    const { refusal } = createAddressGuard([])
    expect(refusal('10.0.0.1')).toBe('is not public (a private network) and was not allowed')
    expect(refusal('::1')).toBe('is not public (this machine itself) and was not allowed')
    expect(refusal('::ffff:127.0.0.1')).toBe('is not public (this machine itself) and was not allowed')
    expect(refusal('64:ff9b::a9fe:a9fe')).toBe(
      'is not public (another spelling of an address that is link-local) and was not allowed',
    )
    expect(refusal('garbage')).toBe('is not public (not an address that can be read) and was not allowed')
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
