import { describe, expect, it } from 'vitest'
import { parseRobots, ROBOTS_MAX_BYTES, ROBOTS_MAX_MATCH_STEPS, ROBOTS_MAX_SITEMAPS } from './index.ts'

const lines = (...all: string[]): string => `${all.join('\n')}\n`
const bytes = (...values: (string | number[])[]): Uint8Array =>
  Buffer.concat(values.map((value) => (typeof value === 'string' ? Buffer.from(value) : Buffer.from(value))))

describe('the verdict', () => {
  const robots = parseRobots(
    lines(
      '# one',
      'User-agent: *',
      '',
      '  Disallow :  /fish/  # no fishing  ',
      'Allow: /fish/gold',
      'disalow: /f*/gold/red',
      'Disallow: /überall',
      'Disallow: /fish/',
    ),
  )

  it('names the line that decided, as it was written', () => {
    expect(robots.check('any', '/fish/x')).toEqual({
      allowed: false,
      line: 4,
      rule: 'Disallow :  /fish/  # no fishing',
    })
    expect(robots.check('any', '/fish/gold')).toEqual({ allowed: true, line: 5, rule: 'Allow: /fish/gold' })
    expect(robots.check('any', '/fish/gold/red')).toEqual({ allowed: false, line: 6, rule: 'disalow: /f*/gold/red' })
    expect(robots.check('any', '/%C3%BCberall')).toEqual({ allowed: false, line: 7, rule: 'Disallow: /überall' })
  })

  it('names no line when no rule decided', () => {
    const undecided = { allowed: true, line: null, rule: null }
    expect(robots.check('any', '/cat')).toEqual(undecided)
    expect(robots.check('any', '/robots.txt')).toEqual(undecided)
    expect(parseRobots('').check('any', '/fish/')).toEqual(undecided)
    expect(parseRobots('User-agent: any\nDisallow:').check('any', '/')).toEqual(undecided)
  })

  it.each(['\n', '\r', '\r\n'])('counts lines that end in %j', (end) => {
    const body = ['User-agent: a', '', '', 'Disallow: /x', '', 'Disallow: /y'].join(end)
    expect(parseRobots(body).check('a', '/x').line).toBe(4)
    expect(parseRobots(body).check('a', '/y').line).toBe(6)
  })

  it('looks at the path and query only', () => {
    for (const url of [
      '/fish/',
      'http://a.example/fish/',
      'https://b.example:81/fish/?q#f',
      'HTTPS://u@c.example/fish/',
    ]) {
      expect(robots.check('any', url).allowed).toBe(false)
    }
  })
})

describe('the product token', () => {
  const robots = parseRobots(
    lines(
      'User-agent: Tiptoe/2.0',
      'Disallow: /us',
      'User-agent: Tiptoe-News',
      'Disallow: /news',
      'User-agent: * all',
      'Disallow: /',
    ),
  )

  it.each(['Tiptoe', 'tiptoe', 'TIPTOE/1.0', 'Tiptoe/1.0 (+https://example.com/bot)', 'tiptoe 3'])(
    '%s is spoken to',
    (agent) => {
      expect(robots.check(agent, '/us').line).toBe(2)
      expect(robots.check(agent, '/else').allowed).toBe(true)
    },
  )

  it.each(['Tiptoe-Images', 'Tip', 'Tiptoes', 'MyTiptoe', '', '*', '(Tiptoe)'])(
    '%j belongs to everyone else',
    (agent) => {
      expect(robots.check(agent, '/us').line).toBe(6)
    },
  )

  it('is answered the same, however many others were asked for in between', () => {
    for (let i = 0; i < 100; i++) expect(robots.check(`Other${i}`, '/').line).toBe(6)
    expect(robots.check('Tiptoe', '/us').line).toBe(2)
  })

  it.each([
    ['Foo-Bar_Baz', 'foo-bar_baz', true],
    ['Tiptoe1.0', 'Tiptoe', true],
    ['Bot2', 'Bot2/1', true],
    ['Bot2', 'Bot3', false],
    ['Bot', 'Bot3', true],
    ['1bot', '1bot', true],
    ['1bot', '2bot', false],
    ['*bot', 'bot', false],
    ['ツ', 'Tiptoe', false],
  ])('a line for %s speaks to %s: %s', (line, agent, isMeant) => {
    expect(parseRobots(`User-agent: ${line}\nDisallow: /`).check(agent, '/').allowed).toBe(!isMeant)
  })
})

describe('Crawl-delay', () => {
  const delayOf = (value: string): number | undefined =>
    parseRobots(`User-agent: *\nCrawl-delay: ${value}`).crawlDelayMs('any')

  it.each([
    ['10', 10_000],
    ['0', 0],
    ['0.5', 500],
    ['.25', 250],
    ['2.', 2000],
    ['5.2', 5200],
    ['1.005', 1005],
    ['0.0004', 0],
    ['86400', 86_400_000],
    ['10<BR>', 10_000],
    ['3 # slowly', 3000],
  ])('%s is %i ms', (value, delayMs) => expect(delayOf(value)).toBe(delayMs))

  it.each([
    '',
    'word',
    '-1',
    '+1',
    '1e3',
    '1.2.1',
    '1.a0',
    '10a',
    '5s',
    '1,5',
    '0x10',
    'NaN',
    'Infinity',
    '-inf',
    '.',
    '9'.repeat(400),
  ])('%j is ignored', (value) => expect(delayOf(value)).toBeUndefined())

  it('belongs to its group, and * is no fallback for a crawler that has one', () => {
    const robots = parseRobots(
      lines(
        'user-agent: *',
        'crawl-delay: 1',
        'user-agent: b',
        'crawl-delay: 12',
        'user-agent: c',
        'user-agent: d',
        'crawl-delay: 10',
        'disallow:',
        'user-agent: e',
        'disallow: /x',
      ),
    )
    const delays = ['anyone', 'b', 'c', 'd/12', 'dd / 0-32-3', 'b / 1.0', 'e'].map((agent) =>
      robots.crawlDelayMs(agent),
    )
    expect(delays).toEqual([1000, 12_000, 10_000, 10_000, 1000, 12_000, undefined])
  })

  it('ends no group (crawler-commons, crawl-delay-group-merging.txt)', () => {
    const robots = parseRobots(
      lines(
        'User-agent: mybot',
        'Crawl-delay: 10',
        'User-agent: yourbot',
        'Disallow: /private/',
        '',
        'User-agent: *',
        'Allow: /',
        '',
        'User-agent: yourbot',
        'Disallow: /login/',
        '',
        'User-agent: *',
        'Crawl-delay: 30',
      ),
    )
    expect([robots.crawlDelayMs('mybot'), robots.crawlDelayMs('yourbot'), robots.crawlDelayMs('x')]).toEqual([
      10_000,
      undefined,
      30_000,
    ])
    expect(robots.check('mybot', '/private/').allowed).toBe(false)
    expect(robots.check('mybot', '/login/').allowed).toBe(true)
    expect(robots.check('yourbot', '/login/').allowed).toBe(false)
  })

  it('is the longest of several', () => {
    const robots = parseRobots(
      lines('User-agent: a', 'Crawl-delay: 2', 'Crawl-delay: 7', 'Disallow: /', 'User-agent: a', 'Crawl-delay: 3'),
    )
    expect(robots.crawlDelayMs('a')).toBe(7000)
  })

  it('before any user-agent line speaks to nobody', () => {
    expect(parseRobots(lines('Crawl-delay: 5', 'User-agent: *', 'Disallow: /')).crawlDelayMs('a')).toBeUndefined()
  })

  it.each(['crawldelay', 'Crawl Delay', 'CRAWL-DELAY', 'clawl-delay'])('is also known as %s', (name) => {
    expect(parseRobots(`User-agent: *\n${name}: 3.5`).crawlDelayMs('a')).toBe(3500)
  })
})

describe('Sitemap', () => {
  it('is found anywhere, in order, each once, as written', () => {
    const { sitemaps } = parseRobots(
      lines(
        'Sitemap: http://a.example/1.xml',
        'user-agent: a',
        'SITEMAP:   /2.xml   ',
        'disallow: /',
        'site-map: https://a.example/Ü.xml # last',
        'sitemap:',
        'Sitemap: http://a.example/1.xml',
        '#Sitemap: /no.xml',
      ),
    )
    expect(sitemaps).toEqual(['http://a.example/1.xml', '/2.xml', 'https://a.example/Ü.xml'])
  })

  it('may lack its colon', () => {
    expect(parseRobots('Sitemap https://a.example/s.xml').sitemaps).toEqual(['https://a.example/s.xml'])
  })

  it('is kept up to a maximum', () => {
    const body = Array.from({ length: ROBOTS_MAX_SITEMAPS + 5 }, (_, i) => `Sitemap: /${i}`).join('\n')
    expect(parseRobots(body).sitemaps).toHaveLength(ROBOTS_MAX_SITEMAPS)
  })
})

describe('a line whose colon is missing', () => {
  it('may have a colon in its path', () => {
    const robots = parseRobots(lines('User-agent *', 'Disallow /wiki/Talk:Foo'))
    expect(robots.check('a', '/wiki/Talk:Foo').allowed).toBe(false)
    expect(robots.check('a', '/Foo').allowed).toBe(true)
  })

  it('is ignored when it has three words', () => {
    expect(parseRobots(lines('User-agent: *', 'Disallow /a /b')).check('a', '/a').allowed).toBe(true)
  })
})

describe('bytes', () => {
  const body = 'User-agent: *\nDisallow: /profile\n'
  const utf16be = Buffer.from(`\uFEFF${body}`, 'utf16le').swap16()

  it.each([
    ['UTF-8', bytes(body)],
    ['UTF-8 with its mark', bytes([0xef, 0xbb, 0xbf], body)],
    ['two thirds of the mark', bytes([0xef, 0xbb], body)],
    ['a third of the mark', bytes([0xef], body)],
    ['UTF-16LE with its mark', Buffer.from(`\uFEFF${body}`, 'utf16le')],
    ['UTF-16BE with its mark', utf16be],
    ['ASCII behind the mark of UTF-16', bytes([0xff, 0xfe], body)],
    ['a view into a larger buffer', bytes('xxx', body, 'xxx').subarray(3, 3 + body.length)],
  ])('%s is read', (_, input) => {
    expect(parseRobots(input).check('a', '/profile')).toEqual({ allowed: false, line: 2, rule: 'Disallow: /profile' })
  })

  it('a broken mark spoils its line alone', () => {
    const robots = parseRobots(bytes([0xef, 0x11, 0xbf], 'User-agent: b\nUser-agent: a\nDisallow: /'))
    expect(robots.check('a', '/').allowed).toBe(false)
    expect(robots.check('b', '/').allowed).toBe(true)
  })

  it('that are no UTF-8 match the same bytes of a URL, and spoil no other line', () => {
    const robots = parseRobots(Buffer.from('User-agent: *\nDisallow: /bücher/\nDisallow: /x', 'latin1'))
    expect(robots.check('a', '/b%FCcher/').allowed).toBe(false)
    expect(robots.check('a', '/b%C3%BCcher/').allowed).toBe(true)
    expect(robots.check('a', '/x').allowed).toBe(false)
  })

  it('give the same answers as the text that they spell', () => {
    const text = 'User-agent: *\nDisallow: /ü*ß$\nAllow: /💩'
    for (const url of ['/üxß', '/%C3%BC%c3%9f', '/💩ß', '/üß/']) {
      expect(parseRobots(Buffer.from(text)).check('a', url)).toEqual(parseRobots(text).check('a', url))
    }
  })
})

describe('limits', () => {
  const head = 'User-agent: *\nDisallow: /first\n'
  const fill = (length: number): string => `#${'x'.repeat(length - 2)}\n`

  it.each([false, true])('reads 500 KiB to the last byte (bytes: %s)', (isBytes) => {
    const last = 'Disallow: /last'
    const text = head + fill(ROBOTS_MAX_BYTES - head.length - last.length) + last
    expect(text.length).toBe(ROBOTS_MAX_BYTES)
    for (const tail of ['', '\nDisallow: /beyond\n', '\r\nDisallow: /beyond']) {
      const robots = parseRobots(isBytes ? Buffer.from(text + tail) : text + tail)
      expect(robots.check('a', '/first').allowed).toBe(false)
      expect(robots.check('a', '/last').allowed).toBe(false)
      expect(robots.check('a', '/beyond').allowed).toBe(true)
    }
  })

  it.each([false, true])('drops a line that is cut there (bytes: %s)', (isBytes) => {
    const text = `${head + fill(ROBOTS_MAX_BYTES - head.length - 12)}Disallow: /pathetic\n`
    const robots = parseRobots(isBytes ? Buffer.from(text) : text)
    expect(robots.check('a', '/first').allowed).toBe(false)
    expect(robots.check('a', '/pathetic').allowed).toBe(true)
    expect(robots.check('a', '/p').allowed).toBe(true)
  })

  it('drops a single line that is too long altogether', () => {
    expect(parseRobots(`User-agent: *${' '.repeat(ROBOTS_MAX_BYTES)}\nDisallow: /`).check('a', '/').allowed).toBe(true)
  })

  it('is strict with the rules with stars for which no steps are left', () => {
    const stars = Array.from({ length: ROBOTS_MAX_MATCH_STEPS / 8000 }, (_, i) => `Disallow: /q*${1000 + i}*b`)
    const robots = parseRobots(
      lines('User-agent: *', ...stars, 'Allow: /q*aaa', 'Disallow: /q*z', 'Allow: /qa/open/and/plain'),
    )
    expect(robots.check('a', '/qaaa')).toMatchObject({ allowed: true, rule: 'Allow: /q*aaa' })
    expect(robots.check('a', '/qa').allowed).toBe(true)
    const long = 'a'.repeat(8000)
    expect(robots.check('a', `/q${long}`)).toMatchObject({ allowed: false, rule: 'Disallow: /q*z' })
    expect(robots.check('a', `/q1001${long}b`)).toMatchObject({ allowed: false, rule: 'Disallow: /q*1001*b' })
    expect(robots.check('a', `/qa/open/and/plain/${long}`).allowed).toBe(true)
  })

  it('is not strict with a thousand rules with stars and a long URL', () => {
    const stars = Array.from({ length: 1000 }, (_, i) => `Disallow: /*${i}*bb`)
    const robots = parseRobots(lines('User-agent: *', ...stars, 'Disallow: /*cc', 'Allow: /*cd'))
    expect(robots.check('a', `/${'a'.repeat(1900)}`).allowed).toBe(true)
    expect(robots.check('a', `/${'a'.repeat(1900)}cc`).allowed).toBe(false)
    expect(robots.check('a', `/${'a'.repeat(1900)}cd`).allowed).toBe(true)
  })
})

describe('hostile files end soon', () => {
  const url = `/${'a'.repeat(8000)}`
  const repeat = (make: (i: number) => string): string => {
    const all = ['User-agent: *']
    for (let size = 14, i = 0; size < ROBOTS_MAX_BYTES; i++) size += (all[all.push(make(i)) - 1] ?? '').length + 1
    return all.join('\n')
  }

  // Each of these would take minutes or more with backtracking, or seconds with work that grows as a square.
  it.each([
    ['one line of stars', `User-agent: *\nDisallow: /${'*a'.repeat(250_000)}b`],
    ['long lines of stars', repeat((i) => `Disallow: /${'*a'.repeat(8000)}*b${i}`)],
    ['many short patterns', repeat((i) => `Disallow: *a*${i.toString(36)}$`)],
    ['many patterns that nearly match', repeat((i) => `Disallow: /*${'a'.repeat(40)}${i}`)],
    ['long pieces that nearly match from behind', repeat((i) => `Disallow: *${i}${'a'.repeat(2000)}`)],
    ['long common beginnings', repeat((i) => `Disallow: /${'a'.repeat(3000)}${i}`)],
    ['nothing but user agents', repeat((i) => `User-agent: a${i}`)],
    ['user agents, then delays', `${'User-agent: a\n'.repeat(18_000)}${'Crawl-delay: 1\n'.repeat(16_000)}`],
    ['nothing but line ends', '\r'.repeat(ROBOTS_MAX_BYTES)],
    ['nothing but colons', ':'.repeat(ROBOTS_MAX_BYTES)],
    ['nothing but percent signs', `User-agent: *\n${`Disallow: /${'%'.repeat(16_000)}\n`.repeat(30)}`],
    ['nothing but blanks', `User-agent:${' '.repeat(200_000)}x${' '.repeat(200_000)}`],
  ])('%s', (_, body) => {
    const robots = parseRobots(body)
    expect(robots.check('a', url).allowed).toBeTypeOf('boolean')
    expect(robots.check('b', `${url}?${'%'.repeat(1000)}`).allowed).toBeTypeOf('boolean')
  })
})
