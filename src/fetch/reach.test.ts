import { describe, expect, test } from 'vitest'
import { createVirtualClock } from '../base/index.ts'
import { normalizeUrl } from '../url/index.ts'
import type { ResolvedAddress } from './index.ts'
import {
  asUrl,
  expectError,
  expectResponse,
  serveConnections,
  serveHttp,
  serveHttp2,
  serveHttpEverywhere,
  signalled,
  testFetcher,
  textOf,
} from './test-support/loopback.ts'

const found = (...addresses: string[]): Promise<ResolvedAddress[]> =>
  Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))

const failing = (code: string) => () => Promise.reject(Object.assign(new Error(`getaddrinfo ${code}`), { code }))

describe('the address guard', () => {
  test.each([
    'http://127.0.0.1/',
    'http://127.0.0.1:8080/x',
    'http://127.0.0.1./',
    'http://127.1/',
    'http://127.0.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0X7F.1/',
    'http://017700000001/',
    'http://0177.0.0.01/',
    'http://0x7f.0.0x0.1/',
    'http://１２７.０.０.１/',
    'http://127。0。0。1/',
    'http://①②⑦.0.0.1/',
    'http://%31%32%37.0.0.1/',
    'http://user:secret@127.0.0.1/',
    'http://8.8.8.8@127.0.0.1/',
    'http://127.0.0.1\\@8.8.8.8/',
    'http://10.0.0.1/',
    'http://0xa000001/',
    'http://169.254.169.254/latest/meta-data/',
    'http://2852039166/latest/meta-data/',
    'http://0251.0376.0251.0376/',
    'http://168.63.129.16/',
    'http://0/',
    'http://0.0.0.0/',
    'http://255.255.255.255/',
    'http://[::]/',
    'http://[::1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[0000::0001]/',
    'http://[::127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::FFFF:127.0.0.1]/',
    'http://[::ffff:0:127.0.0.1]/',
    'http://[fe80::1]/',
    'http://[fd00:ec2::254]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[64:ff9b:1::10.0.0.1]/',
    'http://[2002:7f00:1::]/',
    'http://[2001:0:0:0:0:0:80ff:fffe]/',
    'http://[2606:4700::5efe:10.0.0.1]/',
    'https://192.168.0.1/',
  ])('refuses %s, asks no name server and sends nothing', async (text) => {
    let asked = 0
    const lookup = () => {
      asked++
      return found('8.8.8.8')
    }
    const fetcher = testFetcher({ allowAddresses: [], lookup })
    const url = normalizeUrl(text) ?? expect.fail('it is no URL')
    const outcome = await fetcher.fetch({ url, onAnswer: () => asked++ })
    expect(outcome).toMatchObject({ kind: 'refused', address: new URL(text).hostname.replaceAll(/[[\]]/g, '') })
    expect(asked).toBe(0)
  })

  test.each([
    'http://[fe80::1%25eth0]/',
    'http://[::1%lo]/',
    'http://256.0.0.1/',
    'http://127.0.0.1.0x/',
    'http://1.2.3.4.5/',
    'http://0x100000000/',
    'http://127.0.0.08/',
    'http://[::1/',
    'http://[127.0.0.1]/',
    'http://127.0.0.1:99999/',
  ])('%s is no URL to begin with', (text) => {
    expect(normalizeUrl(text)).toBeUndefined()
  })

  test('a name that only looks like an address is judged by the address that it has', async () => {
    const asked: string[] = []
    const lookup = (name: string) => {
      asked.push(name)
      return found('127.0.0.1')
    }
    const fetcher = testFetcher({ allowAddresses: [], lookup })
    const names = ['127.0.0.1.nip.test', '0x7f000001.test', 'localhost', 'localhost.', 'xn--1-ika.test']
    for (const name of names) {
      expect(await fetcher.get(`http://${name}/`)).toMatchObject({ kind: 'refused', address: '127.0.0.1' })
    }
    expect(asked).toEqual(names)
  })

  test.each(['127.1', '[::1]', '0x7f.0.0.1', 'localhost', '::ffff:127.1', '', '8.8.8.8\0', ' 8.8.8.8'])(
    'an answer of the resolver that is not an address, such as %j, is not dialled',
    async (address) => {
      const lookup = () => Promise.resolve([{ address, family: 4 }])
      const outcome = await testFetcher({ allowAddresses: [], lookup }).get('http://odd.test/')
      expect(outcome).toMatchObject({ kind: 'refused', address })
    },
  )

  test('an address that the system reads otherwise is never looked up as a name', async () => {
    const outcome = await testFetcher({ allowAddresses: ['::/0'], lookup: () => found('[::1]') }).get(
      'http://odd.test/',
    )
    expect(expectError(outcome)).toMatchObject({ code: 'connect' })
  })

  test('only the web is spoken', async () => {
    for (const url of ['ftp://8.8.8.8/', 'file:///etc/passwd', 'gopher://8.8.8.8:70/', 'ws://8.8.8.8/', '']) {
      const refused = { kind: 'refused', detail: 'only http and https are spoken', address: null }
      expect(await testFetcher().get(url)).toEqual(refused)
      expect(await testFetcher().resolve(asUrl(url))).toBeUndefined()
    }
  })

  test('refuses a name with a private address, and says which', async () => {
    const fetcher = testFetcher({ allowAddresses: [], lookup: () => found('10.0.0.5') })
    expect(await fetcher.get('http://inside.test/')).toEqual({
      kind: 'refused',
      detail: 'inside.test has the address 10.0.0.5, which is not public (a private network) and was not allowed',
      address: '10.0.0.5',
    })
  })

  test('never opens a connection that it refuses', async () => {
    let connections = 0
    const port = await serveConnections(() => connections++)
    const fetcher = testFetcher({ allowAddresses: [], lookup: () => found('127.0.0.1', '::1') })
    await fetcher.get(`http://127.0.0.1:${port}/`)
    await fetcher.get(`http://localhost:${port}/`)
    await fetcher.get(`https://inside.test:${port}/`)
    expect(connections).toBe(0)
    expect(fetcher.stats.openOrigins).toBe(0)
  })

  test('passes over the forbidden addresses of a name that has others', async () => {
    let connections = 0
    const port = await serveConnections(() => connections++)
    const good = await serveHttp((_request, response) => response.end('ok'))
    const fetcher = testFetcher({
      allowAddresses: ['127.0.0.2'],
      lookup: () => found('127.0.0.1', '127.0.0.2'),
    })
    expectError(await fetcher.get(`http://mixed.test:${port}/`))
    expect(connections).toBe(0)
    const allowed = testFetcher({ allowAddresses: ['127.0.0.1'], lookup: () => found('127.0.0.2', '127.0.0.1') })
    expect(expectResponse(await allowed.get(`http://mixed.test:${good}/`)).address).toBe('127.0.0.1')
  })

  test('judges the address that is dialled: a name that changes its answer gains nothing', async () => {
    let questions = 0
    const port = await serveHttp((_request, response) => response.end('ok'))
    const clock = createVirtualClock()
    const lookup = () => found(questions++ === 0 ? '127.0.0.1' : '127.0.0.2')
    const fetcher = testFetcher({ allowAddresses: ['127.0.0.1'], lookup }, clock)
    expect(textOf(await fetcher.get(`http://rebind.test:${port}/`))).toBe('ok')
    expect(questions).toBe(1)
    // Another port needs another connection, and by then the name has another answer.
    await clock.advance(61_000)
    expect(await fetcher.get(`http://rebind.test:${port + 1}/`)).toMatchObject({
      kind: 'refused',
      address: '127.0.0.2',
    })
  })
})

describe('a name whose answer changes with every question', () => {
  /** One server for all of 127/8, of which only 127.0.0.1 is allowed; it notes who was reached. */
  const serveNoting = async () => {
    const reached: string[] = []
    const port = await serveHttpEverywhere((request, response) => {
      reached.push(request.socket.localAddress ?? '')
      response.setHeader('connection', 'close').end('ok')
    })
    return { port, reached }
  }
  /** Not kept at all, so that each connection has a question of its own. */
  const briefly = (address: string): ResolvedAddress => ({ address, family: 4, ttlSeconds: 0 })

  test('is asked once for each connection, and dialled only where that one answer is permitted', async () => {
    const { port, reached } = await serveNoting()
    let questions = 0
    const lookup = () => Promise.resolve([briefly(questions++ % 2 === 0 ? '127.0.0.1' : '127.0.0.66')])
    const fetcher = testFetcher({ allowAddresses: ['127.0.0.1'], lookup })
    const kinds: string[] = []
    for (let round = 0; round < 10; round++) kinds.push((await fetcher.get(`http://rebind.test:${port}/`)).kind)
    expect(kinds).toEqual(Array.from({ length: 5 }, () => ['response', 'refused']).flat())
    expect(questions).toBe(10)
    expect(reached).toEqual(Array.from({ length: 5 }, () => '127.0.0.1'))
  })

  test('gains nothing by mixing good and bad addresses, whichever answers first', async () => {
    const { port, reached } = await serveNoting()
    // The good address does not listen on this port in IPv6, so the race goes on to the rest.
    const lookup = () =>
      Promise.resolve(['127.0.0.66', '::1', '127.0.0.1', '127.0.0.67', '::ffff:127.0.0.68'].map(briefly))
    const fetcher = testFetcher({ allowAddresses: ['127.0.0.1', '::1'], lookup })
    for (let round = 0; round < 5; round++) await fetcher.get(`http://mixed.test:${port}/`)
    expect(new Set(reached)).toEqual(new Set(['127.0.0.1']))
    expect(reached).toHaveLength(5)
  })

  test('is not asked again while its connection is kept, and the address of that one stays', async () => {
    let questions = 0
    const port = await serveHttpEverywhere((request, response) => response.end(request.socket.localAddress))
    const lookup = () => Promise.resolve([briefly(questions++ === 0 ? '127.0.0.1' : '127.0.0.66')])
    const fetcher = testFetcher({ allowAddresses: ['127.0.0.1'], lookup })
    for (let round = 0; round < 3; round++) {
      expect(textOf(await fetcher.get(`http://kept.test:${port}/`))).toBe('127.0.0.1')
    }
    expect(questions).toBe(1)
  })
})

describe('a port that is not for the web', () => {
  test.each([0, 1, 22, 25, 110, 143, 465, 587, 993, 2049, 4190, 5060, 6000, 6667, 6697, 10080])(
    '%i is refused before anybody is asked',
    async (port) => {
      let questions = 0
      const lookup = () => {
        questions++
        return found('127.0.0.1')
      }
      for (const scheme of ['http', 'https']) {
        const outcome = await testFetcher({ lookup }).get(`${scheme}://mail.test:${port}/`)
        expect(outcome).toMatchObject({ kind: 'refused', address: null })
        expect(outcome).toHaveProperty('detail', expect.stringContaining(`port ${port} is not for web pages`))
      }
      expect(questions).toBe(0)
    },
  )

  test('is dialled where the user names host and port', async () => {
    const fetcher = testFetcher({ resolve: ['mail.test:25:127.0.0.1'], lookup: () => found('127.0.0.1') })
    expect((await fetcher.get('http://mail.test:25/')).kind).not.toBe('refused')
    expect(await fetcher.get('http://other.test:25/')).toMatchObject({ kind: 'refused' })
    const unlisted = testFetcher({ allowAddresses: [], resolve: ['mail.test:25:127.0.0.1'] })
    expect(await unlisted.get('http://mail.test:25/')).toMatchObject({ kind: 'refused', address: '127.0.0.1' })
  })

  test.each([80, 443, 81, 591, 3000, 8000, 8008, 8080, 8443, 8888, 9090, 65535])(
    '%i is like any other',
    async (port) => {
      const outcome = await testFetcher({ lookup: failing('ENOTFOUND') }).get(`http://nowhere.test:${port}/`)
      expect(expectError(outcome).code).toBe('dns')
    },
  )
})

describe('names', () => {
  test('an unknown name', async () => {
    const error = expectError(await testFetcher({ lookup: failing('ENOTFOUND') }).get('http://nowhere.test/'))
    expect(error).toMatchObject({ code: 'dns', retryable: false, offline: false, sent: false })
    expect(error.detail).toBe('there is no address for nowhere.test (ENOTFOUND)')
  })

  test('a name without addresses', async () => {
    const error = expectError(await testFetcher({ lookup: () => found() }).get('http://nowhere.test/'))
    expect(error).toMatchObject({ code: 'dns', retryable: false, sent: false })
  })

  test('no name server: the machine seems offline', async () => {
    const error = expectError(await testFetcher({ lookup: failing('EAI_AGAIN') }).get('http://nowhere.test/'))
    expect(error).toMatchObject({ code: 'dns', retryable: true, offline: true, sent: false })
    expect(error.detail).toBe('no name server answered for nowhere.test (EAI_AGAIN)')
  })

  test('an answer is kept for a minute, a failure for half a second', async () => {
    const clock = createVirtualClock()
    let questions = 0
    const lookup = (name: string) => {
      questions++
      return name === 'bad.test' ? failing('ENOTFOUND')() : found('127.0.0.1')
    }
    const fetcher = testFetcher({ lookup }, clock)
    // Nothing listens on these ports, so each call has to dial, and so to know the address.
    const ask = async (name: string): Promise<number> => {
      expectError(await fetcher.get(`http://${name}:2/`))
      return questions
    }
    expect(await ask('good.test')).toBe(1)
    await clock.advance(59_000)
    expect(await ask('good.test')).toBe(1)
    await clock.advance(1000)
    expect(await ask('good.test')).toBe(2)
    expect(await ask('bad.test')).toBe(3)
    await clock.advance(499)
    expect(await ask('bad.test')).toBe(3)
    await clock.advance(1)
    expect(await ask('bad.test')).toBe(4)
  })

  test('a shorter life that the resolver states is obeyed', async () => {
    const clock = createVirtualClock()
    let questions = 0
    const lookup = () => {
      questions++
      return Promise.resolve([{ address: '127.0.0.1', family: 4, ttlSeconds: 2 }])
    }
    const fetcher = testFetcher({ lookup }, clock)
    expectError(await fetcher.get('http://brief.test:2/'))
    await clock.advance(2000)
    expectError(await fetcher.get('http://brief.test:2/'))
    expect(questions).toBe(2)
  })

  test('many calls for one name ask once', async () => {
    const port = await serveHttp((_request, response) => response.end('ok'))
    const { promise: go, resolve } = signalled()
    let questions = 0
    const lookup = async () => {
      questions++
      await go
      return found('127.0.0.1')
    }
    const fetcher = testFetcher({ lookup })
    const outcomes = Array.from({ length: 20 }, (_, index) => fetcher.get(`http://busy.test:${port}/${index}`))
    resolve()
    for (const outcome of await Promise.all(outcomes)) expect(textOf(outcome)).toBe('ok')
    expect(questions).toBe(1)
  })

  test('the system is asked by default', async () => {
    const port = await serveHttp((request, response) => response.end(request.headers.host))
    const fetcher = testFetcher({ allowAddresses: ['127.0.0.0/8', '::1'] })
    expect(textOf(await fetcher.get(`http://localhost:${port}/`))).toBe(`localhost:${port}`)
  })
})

describe('a request for one address', () => {
  test('is sent to that address alone, and not at all when the host is elsewhere', async () => {
    let connections = 0
    const port = await serveConnections((socket) => {
      connections++
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'))
    })
    const clock = createVirtualClock()
    let now = ['127.0.0.9', '127.0.0.1']
    let answers = 0
    const fetcher = testFetcher({ lookup: () => found(...now), allowAddresses: ['127.0.0.1', '127.0.0.9'] }, clock)
    const ask = (address: string) => fetcher.get(`http://moving.test:${port}/`, { address, onAnswer: () => answers++ })
    expect(expectResponse(await ask('127.0.0.1')).address).toBe('127.0.0.1')
    expect(await ask('127.0.0.2')).toEqual({ kind: 'elsewhere', address: '127.0.0.9' })
    expect([connections, answers]).toEqual([1, 1])

    now = ['10.0.0.1', '127.0.0.1']
    await clock.advance(61_000)
    expect(await ask('127.0.0.9')).toEqual({ kind: 'elsewhere', address: '127.0.0.1' })
    now = ['10.0.0.1']
    await clock.advance(61_000)
    expect(await ask('127.0.0.9')).toMatchObject({ kind: 'refused', address: '10.0.0.1' })
    expect(connections).toBe(1)
  })

  test('uses no connection to another address, and gets the place of one when there is no room', async () => {
    const port = await serveHttpEverywhere((request, response) => response.end(request.socket.localAddress))
    const resolve = [`two.test:${port}:127.0.0.1,127.0.0.2`]
    const fetcher = testFetcher({ connectionsPerOrigin: 1, resolve, allowAddresses: ['127.0.0.0/8'] })
    const ask = async (address?: string) =>
      textOf(await fetcher.get(`http://two.test:${port}/`, address === undefined ? {} : { address }))
    expect(await ask()).toBe('127.0.0.1')
    expect(await ask('127.0.0.2')).toBe('127.0.0.2')
    expect(await ask()).toBe('127.0.0.2')
    expect(await Promise.all([ask('127.0.0.1'), ask('127.0.0.2'), ask('127.0.0.1')])).toEqual([
      '127.0.0.1',
      '127.0.0.2',
      '127.0.0.1',
    ])
  })

  test('may come in any spelling of the addresses that the host has', async () => {
    const port = await serveHttp((_request, response) => response.end('ok'))
    const fetcher = testFetcher({ resolve: [`mapped.test:${port}:[::ffff:127.0.0.1]`] })
    for (let round = 0; round < 2; round++) {
      expect(textOf(await fetcher.get(`http://mapped.test:${port}/`, { address: '127.0.0.1' }))).toBe('ok')
    }
  })
})

describe('resolve', () => {
  const ask = (url: string, options: Parameters<typeof testFetcher>[0]) => testFetcher(options).resolve(asUrl(url))

  test('is the first address that is permitted, as it would be dialled', async () => {
    const lookup = () => found('10.0.0.1', '127.0.0.3', '127.0.0.1')
    expect(await ask('http://a.test/', { lookup, allowAddresses: ['127.0.0.0/8'] })).toBe('127.0.0.3')
    const resolve = ['a.test:80:127.0.0.7']
    expect(await ask('http://a.test/', { lookup, resolve, allowAddresses: ['127.0.0.0/8'] })).toBe('127.0.0.7')
    expect(await ask('https://a.test/', { lookup, resolve, allowAddresses: ['127.0.0.0/8'] })).toBe('127.0.0.3')
  })

  test('is the address itself where the host is one, in its one spelling', async () => {
    const allowAddresses = ['127.0.0.0/8', '::/0']
    expect(await ask('http://127.0.0.9:8080/', { allowAddresses })).toBe('127.0.0.9')
    expect(await ask('http://[2001:db8::1]/', { allowAddresses })).toBe('2001:db8::1')
    expect(await ask('http://[::ffff:7f00:1]/', { allowAddresses })).toBe('127.0.0.1')
    expect(await ask('http://a.test/', { allowAddresses, resolve: ['a.test:80:[2001:DB8:0:0::1]'] })).toBe(
      '2001:db8::1',
    )
  })

  test('is undefined when there is none', async () => {
    expect(await ask('http://a.test/', { lookup: failing('ENOTFOUND') })).toBeUndefined()
    expect(await ask('http://a.test/', { lookup: () => found() })).toBeUndefined()
    expect(await ask('http://a.test/', { lookup: () => found('10.0.0.1'), allowAddresses: [] })).toBeUndefined()
    expect(await ask('http://10.0.0.1/', { allowAddresses: [] })).toBeUndefined()
  })
})

describe('--resolve', () => {
  const lookup = failing('ENOTFOUND')

  test('sends a host and port to an address', async () => {
    const port = await serveHttp((request, response) => response.end(request.headers.host))
    const fetcher = testFetcher({ lookup, resolve: [`docs.test:${port}:127.0.0.9,127.0.0.1`] })
    const response = expectResponse(await fetcher.get(`http://docs.test:${port}/`))
    expect(textOf(response)).toBe(`docs.test:${port}`)
    expect(response.address).toBe('127.0.0.1')
    expectError(await fetcher.get(`http://docs.test:${port + 1}/`))
    expectError(await fetcher.get(`http://other.test:${port}/`))
  })

  test('a star stands for any host, and an exact host wins over it', async () => {
    const port = await serveHttp((_request, response) => response.end('ok'))
    const fetcher = testFetcher({ lookup, resolve: [`Exact.test:${port}:127.0.0.9`, `*:${port}:127.0.0.1`] })
    expect(textOf(await fetcher.get(`http://anything.test:${port}/`))).toBe('ok')
    expectError(await fetcher.get(`http://exact.test:${port}/`))
  })

  test('for a host that is an address itself', async () => {
    const port = await serveHttp2((stream) => stream.respond({ ':status': 200 }, { endStream: true }))
    const fetcher = testFetcher({ resolve: [`127.0.0.9:${port}:127.0.0.1`], rejectUnauthorized: false })
    const response = expectResponse(await fetcher.get(`https://127.0.0.9:${port}/`))
    expect(response).toMatchObject({ status: 200, address: '127.0.0.1' })
  })

  test('does not go round the address guard', async () => {
    const fetcher = testFetcher({
      lookup,
      allowAddresses: [],
      resolve: ['docs.test:80:127.0.0.1', 'six.test:80:[::1]'],
    })
    expect(await fetcher.get('http://docs.test/')).toMatchObject({ kind: 'refused', address: '127.0.0.1' })
    expect(await fetcher.get('http://six.test/')).toMatchObject({ kind: 'refused', address: '::1' })
  })

  test.each([
    '',
    'docs.test',
    'docs.test:80',
    'docs.test:80:',
    'docs.test:x:127.0.0.1',
    'docs.test:80:localhost',
    ':80:127.0.0.1',
    'docs.test:0:127.0.0.1',
    'docs.test:70000:127.0.0.1',
    '[::1:80:127.0.0.1',
  ])('%j is wrong usage', (entry) => {
    expect(() => testFetcher({ resolve: [entry] })).toThrow(expect.objectContaining({ code: 'usage' }))
  })
})
