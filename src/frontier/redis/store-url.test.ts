import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hashSlot } from './hash-slot.ts'
import { isStoreUrl, parseStoreUrl, redactStoreUrl } from './store-url.ts'

describe('a store URL', () => {
  test.each([
    ['redis://localhost', { cluster: false, tls: false, nodes: [{ host: 'localhost', port: 6379 }], database: 0 }],
    ['redis://10.0.0.1:7000/3', { nodes: [{ host: '10.0.0.1', port: 7000 }], database: 3 }],
    ['rediss://[::1]:7000/', { tls: true, nodes: [{ host: '::1', port: 7000 }], database: 0 }],
    ['redis://ann:p%40ss@host', { username: 'ann', password: 'p@ss' }],
    ['redis://:secret@host', { username: undefined, password: 'secret' }],
    ['redis://ann@host', { username: 'ann', password: undefined }],
    ['REDIS-CLUSTER://a:1,b:2', { cluster: true, nodes: [{ port: 1 }, { host: 'b', port: 2 }] }],
    ['rediss-cluster://a', { cluster: true, tls: true }],
  ])('%s names its servers', (url, expected) => {
    expect(isStoreUrl(url)).toBe(true)
    expect(parseStoreUrl(url)).toMatchObject(expected)
  })

  test.each([
    'redis://',
    'redis://host:0',
    'redis://host:70000',
    'redis://a,b',
    'redis://host/one',
    'redis://host?password=secret',
    'redis-cluster://a/1',
    'redis://:se%zzcret@host',
    'http://host',
    `redis://${'a,'.repeat(5_000)}`,
  ])('%s is refused without repeating what may be secret', (url) => {
    expect(() => parseStoreUrl(url)).toThrow(/cannot be used/)
    expect(() => parseStoreUrl(url)).not.toThrow(/secret|cret/)
  })

  test('takes a password from elsewhere only when it has none itself', () => {
    expect(parseStoreUrl('redis://ann@host', 'given').password).toBe('given')
    expect(parseStoreUrl('redis://ann:own@host', 'given').password).toBe('own')
  })

  test('is shown without its password, whatever that is made of', () => {
    expect(redactStoreUrl('redis://ann:secret@host:7000/3')).toBe('redis://ann:***@host:7000/3')
    expect(redactStoreUrl('redis://host:7000')).toBe('redis://host:7000')
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (password) => {
        const secret = `<${password}>`
        expect(redactStoreUrl(`redis://ann:${secret}@host`)).not.toContain(secret)
        expect(redactStoreUrl(`redis://:${secret}`)).not.toContain(secret)
        expect(redactStoreUrl(`redis://${secret}@host:1`)).not.toContain(secret)
      }),
    )
  })
})

test('a key lies in the slot that the cluster specification gives it', () => {
  expect(hashSlot('123456789')).toBe(0x31c3)
  expect(hashSlot('tiptoe:{news:4}:meta')).toBe(hashSlot('news:4'))
  expect(hashSlot('{}x')).not.toBe(hashSlot(''))
  expect(hashSlot('a{b}{c}')).toBe(hashSlot('b'))
})
