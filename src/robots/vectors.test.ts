/**
 * Verdicts retyped from, or modelled on, the public suites and the examples of RFC 9309. Where two suites contradict each
 * other the RFC decides, then Google's parser. Each table names its source; every URL in it is one case.
 */
import { describe, expect, it } from 'vitest'
import { parseRobots } from './index.ts'

interface Vector {
  readonly source: string
  readonly body: string | readonly string[]
  readonly agent?: string
  readonly allowed?: readonly string[]
  readonly disallowed?: readonly string[]
}

function verify(vectors: readonly Vector[]): void {
  for (const { source, body, agent = 'FooBot', allowed = [], disallowed = [] } of vectors) {
    const text = typeof body === 'string' ? body : `${body.join('\n')}\n`
    const shown = JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}…` : text)
    describe(`${source}: ${agent}: ${shown}`, () => {
      it.each([
        ...allowed.map((url): [string, string, boolean] => ['allows', url, true]),
        ...disallowed.map((url): [string, string, boolean] => ['disallows', url, false]),
      ])('%s %s', (_, url, expected) => {
        expect(parseRobots(text).check(agent, url).allowed).toBe(expected)
      })
    })
  }
}

/** One disallow pattern for everyone, against paths that it matches and paths that it does not. */
function pattern(source: string, disallow: string, matching: readonly string[], others: readonly string[]): Vector {
  return { source, body: ['User-agent: *', `Disallow: ${disallow}`], disallowed: matching, allowed: others }
}

const RFC_SIMPLE = [
  'User-Agent: *',
  'Disallow: *.gif$',
  'Disallow: /example/',
  'Allow: /publications/',
  '',
  'User-Agent: foobot',
  'Disallow:/',
  'Allow:/example/page.html',
  'Allow:/example/allowed.gif',
  '',
  'User-Agent: barbot',
  'User-Agent: bazbot',
  'Disallow: /example/page.html',
  '',
  'User-Agent: quxbot',
  '',
  'EOF',
]

const RFC_MERGE = [
  'user-agent: ExampleBot',
  'disallow: /foo',
  'disallow: /bar',
  '',
  'user-agent: ExampleBot',
  'disallow: /baz',
  '',
  'user-agent: *',
  'disallow: /foo',
  'disallow: /bar',
  'user-agent: BazBot',
  'disallow: /baz',
]

const RFC_LONGEST = ['User-Agent: foobot', 'Allow: /example/page/', 'Disallow: /example/page/disallowed.gif']

describe('RFC 9309', () => {
  verify([
    {
      source: '§5.1 simple example',
      body: RFC_SIMPLE,
      agent: 'anybot',
      allowed: ['/', '/publications/doc1.html', '/example.gif?x', '/examples', '/x.giff'],
      disallowed: ['/example/page.html', '/example.gif', '/a/b.gif', '/example/'],
    },
    {
      source: '§5.1 simple example',
      body: RFC_SIMPLE,
      agent: 'foobot',
      allowed: ['/example/page.html', '/example/allowed.gif', '/example/page.html?x'],
      disallowed: ['/', '/publications/', '/example/', '/example/other.gif'],
    },
    {
      source: '§5.1 simple example',
      body: RFC_SIMPLE,
      agent: 'barbot',
      allowed: ['/', '/example/', '/x.gif', '/publications/'],
      disallowed: ['/example/page.html'],
    },
    {
      source: '§5.1 simple example',
      body: RFC_SIMPLE,
      agent: 'BazBot/2.0 (+https://example.com)',
      allowed: ['/', '/example/other.html'],
      disallowed: ['/example/page.html', '/example/page.html#part'],
    },
    {
      source: '§5.1 a group without rules beats *',
      body: RFC_SIMPLE,
      agent: 'quxbot',
      allowed: ['/', '/example/page.html', '/x.gif'],
    },
    {
      source: '§5.2 longest match',
      body: RFC_LONGEST,
      agent: 'foobot',
      allowed: ['/example/page/', '/example/page/index.html', '/', '/example/page/disallowed.gi'],
      disallowed: ['/example/page/disallowed.gif', '/example/page/disallowed.gif2'],
    },
    {
      source: '§2.2.1 merged groups',
      body: RFC_MERGE,
      agent: 'examplebot',
      allowed: ['/'],
      disallowed: ['/foo', '/bar', '/baz'],
    },
    {
      source: '§2.2.1 merged groups',
      body: RFC_MERGE,
      agent: 'otherbot',
      allowed: ['/', '/baz'],
      disallowed: ['/foo', '/bar'],
    },
    {
      source: '§2.2.1 merged groups',
      body: RFC_MERGE,
      agent: 'bazbot',
      allowed: ['/', '/foo', '/bar'],
      disallowed: ['/baz'],
    },
    pattern(
      '§2.2.2 table, row 1',
      '/foo/bar?baz=quz',
      ['/foo/bar?baz=quz', '/foo/bar?baz=quz&x'],
      ['/foo/bar', '/foo/bar%3Fbaz=quz'],
    ),
    pattern(
      '§2.2.2 table, row 2',
      '/foo/bar?baz=https://foo.bar',
      ['/foo/bar?baz=https://foo.bar', '/foo/bar?baz=https%3A%2F%2Ffoo.bar', '/foo/bar?baz=https%3a%2f%2ffoo.bar/x'],
      ['/foo/bar?baz=http://foo.bar', '/foo/bar'],
    ),
    pattern(
      '§2.2.2 table, row 2, encoded in the rule',
      '/foo/bar?baz=https%3A%2F%2Ffoo.bar',
      ['/foo/bar?baz=https://foo.bar', '/foo/bar?baz=https%3A%2F%2Ffoo.bar', '/foo/bar?baz=https:%2F/foo.bar'],
      ['/foo/bar?baz=https'],
    ),
    pattern(
      '§2.2.2 table, row 3',
      '/foo/bar/ツ',
      ['/foo/bar/%E3%83%84', '/foo/bar/%e3%83%84', '/foo/bar/ツ'],
      ['/foo/bar/%E3%83'],
    ),
    pattern(
      '§2.2.2 table, row 4',
      '/foo/bar/%E3%83%84',
      ['/foo/bar/%E3%83%84', '/foo/bar/ツ', '/foo/bar/ツx'],
      ['/foo/bar/'],
    ),
    pattern(
      '§2.2.2 table, row 5',
      '/foo/bar/%62%61%7A',
      ['/foo/bar/baz', '/foo/bar/%62%61%7A', '/foo/bar/b%61z'],
      ['/foo/bar/ba'],
    ),
    pattern(
      '§2.2.3 special characters',
      '/path/file-with-a-%2A.html',
      ['/path/file-with-a-*.html', '/path/file-with-a-%2a.html'],
      ['/path/file-with-a-foo.html'],
    ),
    pattern(
      '§2.2.3 special characters',
      '/path/foo-%24',
      ['/path/foo-$', '/path/foo-%24', '/path/foo-$x'],
      ['/path/foo-'],
    ),
    pattern(
      '§2.2.3 special characters',
      '/this/*/exactly',
      ['/this/path/exactly', '/this//exactly', '/this/a/b/exactly/x'],
      ['/this/exactly', '/this/path/Exactly'],
    ),
    pattern(
      '§2.2.3 special characters',
      '/this/path/exactly$',
      ['/this/path/exactly'],
      ['/this/path/exactly/', '/this/path/exactly?x'],
    ),
    {
      source: '§2.2.2 robots.txt itself',
      body: ['User-agent: *', 'Disallow: /'],
      allowed: ['/robots.txt', 'https://a.example/robots.txt', '/%72obots.txt'],
      disallowed: ['/robots.txt2', '/a/robots.txt', '/Robots.txt'],
    },
    { source: '§2.2.2 robots.txt itself', body: ['User-agent: *', 'Disallow: /robots.txt'], allowed: ['/robots.txt'] },
    {
      source: '§2.2.2 rules outside groups',
      body: ['Disallow: /a', 'User-agent: *', 'Disallow: /b'],
      allowed: ['/a'],
      disallowed: ['/b'],
    },
    {
      source: '§2.2.4 a sitemap ends no group',
      body: ['User-agent: FooBot', 'Sitemap: https://a.example/s', 'User-agent: BarBot', 'Disallow: /'],
      disallowed: ['/x'],
    },
    {
      source: '§2.2 comments',
      body: ['# User-agent: FooBot', 'User-agent: * # all', 'Disallow: /a # b', 'Disallow: /c#d', '#Disallow: /e'],
      allowed: ['/e', '/b'],
      disallowed: ['/a', '/c', '/c%23d'],
    },
  ])
})

const GOOGLE_GROUPS = [
  'allow: /foo/bar/',
  '',
  'user-agent: FooBot',
  'disallow: /',
  'allow: /x/',
  'user-agent: BarBot',
  'disallow: /',
  'allow: /y/',
  '',
  '',
  'allow: /w/',
  'user-agent: BazBot',
  '',
  'user-agent: FooBot',
  'allow: /z/',
  'disallow: /',
]

const at = (path: string): string => `http://foo.bar${path}`

describe('google/robotstxt, robots_test.cc', () => {
  const only = (allow: string): string[] => ['user-agent: FooBot', 'disallow: /', `allow: ${allow}`]
  const long = `/x/${'a'.repeat(16_649)}`
  verify([
    { source: 'SystemTest', body: '', allowed: ['', '/', at('/x')] },
    { source: 'SystemTest', body: ['user-agent: FooBot', 'disallow: /'], agent: '', allowed: ['', '/x'] },
    { source: 'SystemTest', body: ['user-agent: FooBot', 'disallow: /'], disallowed: ['', at('/x/y')] },
    { source: 'LineSyntax_Line', body: ['foo: FooBot', 'bar: /'], allowed: [at('/x/y')] },
    { source: 'LineSyntax_Line, colon missing', body: ['user-agent FooBot', 'disallow /'], disallowed: [at('/x/y')] },
    {
      source: 'LineSyntax_Groups',
      body: GOOGLE_GROUPS,
      allowed: [at('/x/b'), at('/z/d')],
      disallowed: [at('/y/c'), at('/foo/bar/')],
    },
    {
      source: 'LineSyntax_Groups',
      body: GOOGLE_GROUPS,
      agent: 'BarBot',
      allowed: [at('/y/c'), at('/w/a')],
      disallowed: [at('/z/d'), at('/foo/bar/')],
    },
    {
      source: 'LineSyntax_Groups',
      body: GOOGLE_GROUPS,
      agent: 'BazBot',
      allowed: [at('/z/d')],
      disallowed: [at('/foo/bar/')],
    },
    {
      source: 'Groups_OtherRules',
      body: ['User-agent: BarBot', 'Sitemap: https://foo.bar/sitemap', 'User-agent: *', 'Disallow: /'],
      disallowed: [at('/')],
    },
    {
      source: 'Groups_OtherRules',
      body: ['User-agent: BarBot', 'Sitemap: https://foo.bar/sitemap', 'User-agent: *', 'Disallow: /'],
      agent: 'BarBot',
      disallowed: [at('/')],
    },
    {
      source: 'Groups_OtherRules',
      body: ['User-agent: FooBot', 'Invalid-Unknown-Line: unknown', 'User-agent: *', 'Disallow: /'],
      disallowed: [at('/')],
    },
    {
      source: 'Groups_OtherRules',
      body: ['User-agent: FooBot', 'Invalid-Unknown-Line: unknown', 'User-agent: *', 'Disallow: /'],
      agent: 'BarBot',
      disallowed: [at('/')],
    },
    ...[
      ['USER-AGENT: FooBot', 'ALLOW: /x/', 'DISALLOW: /'],
      ['user-agent: FooBot', 'allow: /x/', 'disallow: /'],
      ['uSeR-aGeNt: FooBot', 'AlLoW: /x/', 'dIsAlLoW: /'],
    ].map((body): Vector => ({
      source: 'REPLineNamesCaseInsensitive',
      body,
      allowed: [at('/x/y')],
      disallowed: [at('/a/b')],
    })),
    ...['FOO BAR', 'foo bar', 'FoO bAr'].flatMap((name) =>
      ['Foo', 'foo'].map((agent): Vector => ({
        source: 'UserAgentValueCaseInsensitive',
        body: [`User-Agent: ${name}`, 'Allow: /x/', 'Disallow: /'],
        agent,
        allowed: [at('/x/y')],
        disallowed: [at('/a/b')],
      })),
    ),
    {
      source: 'AcceptUserAgentUpToFirstSpace',
      body: ['User-Agent: *', 'Disallow: /', 'User-Agent: Foo Bar', 'Allow: /x/', 'Disallow: /'],
      agent: 'Foo',
      allowed: [at('/x/y')],
    },
    {
      source: 'GlobalGroups_Secondary',
      body: ['user-agent: *', 'allow: /', 'user-agent: FooBot', 'disallow: /'],
      disallowed: [at('/x/y')],
    },
    {
      source: 'GlobalGroups_Secondary',
      body: ['user-agent: *', 'allow: /', 'user-agent: FooBot', 'disallow: /'],
      agent: 'BarBot',
      allowed: [at('/x/y')],
    },
    {
      source: 'GlobalGroups_Secondary',
      body: [
        'user-agent: FooBot',
        'allow: /',
        'user-agent: BarBot',
        'disallow: /',
        'user-agent: BazBot',
        'disallow: /',
      ],
      agent: 'QuxBot',
      allowed: [at('/x/y')],
    },
    pattern('AllowDisallow_Value_CaseSensitive', '/x/', [at('/x/y')], [at('/X/y')]),
    {
      source: 'LongestMatch',
      body: ['user-agent: FooBot', 'disallow: /x/page.html', 'allow: /x/'],
      disallowed: [at('/x/page.html')],
    },
    {
      source: 'LongestMatch',
      body: ['user-agent: FooBot', 'allow: /x/page.html', 'disallow: /x/'],
      allowed: [at('/x/page.html')],
      disallowed: [at('/x/')],
    },
    { source: 'LongestMatch', body: ['user-agent: FooBot', 'disallow: ', 'allow: '], allowed: [at('/x/page.html')] },
    { source: 'LongestMatch', body: ['user-agent: FooBot', 'disallow: /', 'allow: /'], allowed: [at('/x/page.html')] },
    {
      source: 'LongestMatch',
      body: ['user-agent: FooBot', 'disallow: /x', 'allow: /x/'],
      allowed: [at('/x/')],
      disallowed: [at('/x')],
    },
    {
      source: 'LongestMatch',
      body: ['user-agent: FooBot', 'disallow: /x/page.html', 'allow: /x/page.html'],
      allowed: [at('/x/page.html')],
    },
    {
      source: 'LongestMatch',
      body: ['user-agent: FooBot', 'allow: /page', 'disallow: /*.html'],
      allowed: [at('/page')],
      disallowed: [at('/page.html')],
    },
    {
      source: 'LongestMatch',
      body: ['user-agent: FooBot', 'allow: /x/page.', 'disallow: /*.html'],
      allowed: [at('/x/page.html')],
      disallowed: [at('/x/y.html')],
    },
    {
      source: 'LongestMatch',
      body: ['User-agent: *', 'Disallow: /x/', 'User-agent: FooBot', 'Disallow: /y/'],
      allowed: [at('/x/page')],
      disallowed: [at('/y/page')],
    },
    {
      source: 'Encoding',
      body: only('/foo/bar?qux=taz&baz=http://foo.bar?tar&par'),
      allowed: [at('/foo/bar?qux=taz&baz=http://foo.bar?tar&par')],
      disallowed: [at('/foo/bar?qux=taz')],
    },
    { source: 'Encoding', body: only('/foo/bar/ツ'), allowed: [at('/foo/bar/%E3%83%84')] },
    { source: 'Encoding', body: only('/foo/bar/%E3%83%84'), allowed: [at('/foo/bar/%E3%83%84')] },
    { source: 'Encoding', body: only('/foo/bar/%62%61%7A'), allowed: [at('/foo/bar/%62%61%7A')] },
    {
      source: 'SpecialCharacters',
      body: ['User-agent: FooBot', 'Disallow: /foo/bar/quz', 'Allow: /foo/*/qux'],
      allowed: [at('/foo/quz'), at('/foo//quz'), at('/foo/bax/quz')],
      disallowed: [at('/foo/bar/quz')],
    },
    {
      source: 'SpecialCharacters',
      body: ['User-agent: FooBot', 'Disallow: /foo/bar$', 'Allow: /foo/bar/qux'],
      allowed: [at('/foo/bar/qux'), at('/foo/bar/'), at('/foo/bar/baz')],
      disallowed: [at('/foo/bar')],
    },
    {
      source: 'SpecialCharacters',
      body: ['User-agent: FooBot', '# Disallow: /', 'Disallow: /foo/quz#qux', 'Allow: /'],
      allowed: [at('/foo/bar')],
      disallowed: [at('/foo/quz')],
    },
    {
      source: 'IndexHTMLisDirectory',
      body: ['User-agent: *', 'Allow: /allowed-slash/index.html', 'Disallow: /'],
      allowed: [at('/allowed-slash/index.html'), at('/allowed-slash/')],
      disallowed: [
        at('/allowed-slash/index.htm'),
        at('/allowed-slash/other'),
        at('/allowed-slash'),
        at('/anyother-url'),
      ],
    },
    {
      source: 'LineTooLong, cut',
      body: ['user-agent: FooBot', `disallow: ${long}/qux`],
      allowed: [at('/fux'), at(long.slice(0, -1))],
      disallowed: [at(`${long}/fux`)],
    },
    {
      source: 'LineTooLong, cut',
      body: ['user-agent: FooBot', 'disallow: /', `allow: ${long}aaa/qux`],
      allowed: [at(`${long}aaa/qux`), at(`${long}aaa/fux`)],
      disallowed: [at('/')],
    },
    {
      source: 'DocumentationChecks /fish',
      body: only('/fish'),
      allowed: [
        '/fish',
        '/fish.html',
        '/fish/salmon.html',
        '/fishheads',
        '/fishheads/yummy.html',
        '/fish.html?id=anything',
      ].map(at),
      disallowed: ['/bar', '/Fish.asp', '/catfish', '/?id=fish'].map(at),
    },
    {
      source: 'DocumentationChecks /fish*',
      body: only('/fish*'),
      allowed: [
        '/fish',
        '/fish.html',
        '/fish/salmon.html',
        '/fishheads',
        '/fishheads/yummy.html',
        '/fish.html?id=anything',
      ].map(at),
      disallowed: ['/bar', '/Fish.bar', '/catfish', '/?id=fish'].map(at),
    },
    {
      source: 'DocumentationChecks /fish/',
      body: only('/fish/'),
      allowed: ['/fish/', '/fish/salmon', '/fish/?salmon', '/fish/salmon.html', '/fish/?id=anything'].map(at),
      disallowed: ['/bar', '/fish', '/fish.html', '/Fish/Salmon.html'].map(at),
    },
    {
      source: 'DocumentationChecks /*.php',
      body: only('/*.php'),
      allowed: [
        '/filename.php',
        '/folder/filename.php',
        '/folder/filename.php?parameters',
        '//folder/any.php.file.html',
        '/filename.php/',
        '/index?f=filename.php/',
      ].map(at),
      disallowed: ['/bar', '/php/', '/index?php', '/windows.PHP'].map(at),
    },
    {
      source: 'DocumentationChecks /*.php$',
      body: only('/*.php$'),
      allowed: ['/filename.php', '/folder/filename.php'].map(at),
      disallowed: [
        '/bar',
        '/filename.php?parameters',
        '/filename.php/',
        '/filename.php5',
        '/php/',
        '/filename?php',
        '/aaaphpaaa',
        '//windows.PHP',
      ].map(at),
    },
    {
      source: 'DocumentationChecks /fish*.php',
      body: only('/fish*.php'),
      allowed: ['/fish.php', '/fishheads/catfish.php?parameters'].map(at),
      disallowed: ['/bar', '/Fish.PHP'].map(at),
    },
    {
      source: 'DocumentationChecks, order',
      body: ['user-agent: FooBot', 'allow: /p', 'disallow: /'],
      allowed: ['http://example.com/page'],
    },
    {
      source: 'DocumentationChecks, order',
      body: ['user-agent: FooBot', 'allow: /folder', 'disallow: /folder'],
      allowed: ['http://example.com/folder/page'],
    },
    {
      source: 'DocumentationChecks, order',
      body: ['user-agent: FooBot', 'allow: /page', 'disallow: /*.htm'],
      disallowed: ['http://example.com/page.htm'],
    },
    {
      source: 'DocumentationChecks, order',
      body: ['user-agent: FooBot', 'allow: /$', 'disallow: /'],
      allowed: ['http://example.com/', 'http://example.com'],
      disallowed: ['http://example.com/page.html', 'http://example.com/?x'],
    },
    ...['\n', '\r\n', '\r'].map((end): Vector => ({
      source: 'LinesNumbersAreCountedCorrectly',
      body: ['User-Agent: foo', 'Allow: /some/path', 'User-Agent: bar', '', '', 'Disallow: /'].join(end),
      agent: 'bar',
      disallowed: ['/some/path', '/'],
    })),
    {
      source: 'UTF8ByteOrderMarkIsSkipped',
      body: ['\uFEFFUser-Agent: foo', 'Disallow: /AnyValue'],
      agent: 'foo',
      disallowed: ['/AnyValue'],
    },
    {
      source: 'UTF8ByteOrderMarkIsSkipped, only at the start',
      body: ['User-Agent: foo', '\uFEFFDisallow: /AnyValue'],
      agent: 'foo',
      allowed: ['/AnyValue'],
    },
  ])

  it.each([
    ['', '/'],
    ['http://www.example.com', '/'],
    ['http://www.example.com/', '/'],
    ['http://www.example.com/a', '/a'],
    ['http://www.example.com/a/', '/a/'],
    ['http://www.example.com/a/b?c=http://d.e/', '/a/b?c=http://d.e/'],
    ['http://www.example.com/a/b?c=d&e=f#fragment', '/a/b?c=d&e=f'],
    ['example.com', '/'],
    ['example.com/', '/'],
    ['example.com/a', '/a'],
    ['example.com/a/', '/a/'],
    ['example.com/a/b?c=d&e=f#fragment', '/a/b?c=d&e=f'],
    ['a', '/'],
    ['a/', '/'],
    ['/a', '/a'],
    ['a/b', '/b'],
    ['example.com?a', '/?a'],
    ['example.com/a;b#c', '/a;b'],
    ['//a/b/c', '/b/c'],
    ['http://example.com#a/b', '/'],
    ['https://example.com:8080?q', '/?q'],
  ])('TestGetPathParamsQuery: %j is matched as %j', (url, path) => {
    const robots = parseRobots(`User-agent: *\nDisallow: /\nAllow: ${path}$`)
    expect(robots.check('FooBot', url)).toMatchObject({ allowed: true, line: 3 })
  })
})

const REP_1996 = [
  '# /robots.txt for http://www.fict.org/',
  '# comments to webmaster@fict.org',
  '',
  'User-agent: unhipbot',
  'Disallow: /',
  '',
  'User-agent: webcrawler',
  'User-agent: excite',
  'Disallow:',
  '',
  'User-agent: *',
  'Disallow: /org/plans.html',
  'Allow: /org/',
  'Allow: /serv',
  'Allow: /~mak',
  'Disallow: /',
]
const REP_1996_OPEN = [
  '/server.html',
  '/services/fast.html',
  '/services/slow.html',
  '/org/about.html',
  '/%7Emak/mak.html',
]
const REP_1996_CLOSED = ['/', '/index.html', '/orgo.gif', '/org/plans.html', '/%7Ejim/jim.html']

describe("Koster's draft of 1996, in reppy, protego, crawler-commons", () => {
  verify([
    {
      source: 'draft-koster-robots-00',
      body: REP_1996,
      agent: 'unhipbot',
      allowed: ['/robots.txt'],
      disallowed: [...REP_1996_OPEN, ...REP_1996_CLOSED],
    },
    {
      source: 'draft-koster-robots-00',
      body: REP_1996,
      agent: 'webcrawler',
      allowed: ['/robots.txt', ...REP_1996_OPEN, ...REP_1996_CLOSED],
    },
    {
      source: 'draft-koster-robots-00',
      body: REP_1996,
      agent: 'Excite/1.0',
      allowed: ['/robots.txt', ...REP_1996_OPEN, ...REP_1996_CLOSED],
    },
    {
      source: 'draft-koster-robots-00',
      body: REP_1996,
      agent: 'anything',
      allowed: ['/robots.txt', ...REP_1996_OPEN],
      disallowed: REP_1996_CLOSED,
    },
    {
      source: 'draft-koster-robots-00, mixed line ends',
      body: REP_1996.map((line, i) => line + ['\r\n', '\n', '\r'][i % 3]).join(''),
      agent: 'anything',
      allowed: REP_1996_OPEN,
      disallowed: REP_1996_CLOSED,
    },
    pattern('draft-koster-robots-00 §3.2.2', '/tmp', ['/tmp', '/tmp.html', '/tmp/a.html'], ['/Tmp', '/t']),
    pattern('draft-koster-robots-00 §3.2.2', '/tmp/', ['/tmp/', '/tmp/a.html'], ['/tmp']),
    pattern(
      'draft-koster-robots-00 §3.2.2',
      '/a%3cd.html',
      ['/a%3cd.html', '/a%3Cd.html', '/a<d.html'],
      ['/a3cd.html'],
    ),
    pattern('draft-koster-robots-00 §3.2.2', '/a%3Cd.html', ['/a%3cd.html', '/a%3Cd.html'], []),
    pattern('draft-koster-robots-00 §3.2.2', '/a%2fb.html', ['/a%2fb.html', '/a%2Fb.html'], ['/a/b.html']),
    pattern('draft-koster-robots-00 §3.2.2', '/a/b.html', ['/a/b.html'], ['/a%2fb.html']),
    pattern('draft-koster-robots-00 §3.2.2', '/%7ejoe/index.html', ['/~joe/index.html', '/%7Ejoe/index.html'], []),
    pattern('draft-koster-robots-00 §3.2.2', '/~joe/index.html', ['/%7Ejoe/index.html', '/%7ejoe/index.html'], []),
  ])
})

describe('crawler-commons, SimpleRobotRulesParserTest', () => {
  const escaped = (isAllowed: boolean, disallow: string, url: string): Vector => ({
    source: 'testEscapedPaths',
    body: ['User-agent: *', `Disallow: ${disallow}`, 'Allow: /'],
    [isAllowed ? 'allowed' : 'disallowed']: [url],
  })
  const nutch = [
    'User-Agent: Agent1 #foo',
    'Disallow: /a',
    'Disallow: /b/a',
    '#Disallow: /c',
    '',
    '',
    'User-Agent: Agent2 Agent3#foo',
    'User-Agent: Agent4',
    'Disallow: /d',
    'Disallow: /e/d/',
    '',
    'User-Agent: *',
    'Disallow: /foo/bar/',
  ].join('\r')
  const krugle = [
    'User-agent: *',
    'Disallow: /maintenance.html',
    'Disallow: /examples/',
    'Crawl-delay: 3',
    '',
    'User-agent: googlebot',
    'Crawl-delay: 1',
    '',
    'User-agent: qihoobot',
    'Disallow: /',
  ]
  verify([
    escaped(true, '/*%20', '/'),
    escaped(false, '/*%20', '/foobar%20/'),
    escaped(true, '/*%20', '/foobar/'),
    escaped(true, '/*%2F*', '/path/index.html'),
    escaped(false, '/*%2F*', '/topic/9%2F11/index.html'),
    escaped(false, '/topic/9%2F11/', '/topic/9%2F11/index.html'),
    escaped(false, '/topic/9%2F11/', '/topic/9%2f11/index.html'),
    escaped(false, '/q?*mime=application%2Fpdf', '/q?mime=application%2Fpdf'),
    escaped(false, '/$', '/'),
    escaped(true, '/$', '/foobar'),
    escaped(true, '/%24', '/'),
    escaped(false, '/%24', '/%24100'),
    escaped(false, '/%24', '/$100'),
    escaped(true, '/search/%2A/', '/search/foobar/'),
    escaped(false, '/search/%2A/', '/search/%2A/'),
    escaped(false, '/search/%2A/', '/search/%2a/'),
    escaped(false, '/search/%2a/', '/search/*/'),
    escaped(false, '/search/*/', '/search/foobar/'),
    {
      source: 'testQueryParamInDisallow',
      body: ['User-agent: *', 'Disallow: /index.cfm?fuseaction=sitesearch.results*'],
      disallowed: ['/index.cfm?fuseaction=sitesearch.results&type=People'],
    },
    pattern(
      'testGooglePatternMatching6',
      '/*fish*.php',
      ['/fish.php', '/superfishheads/catfish.php?parameters'],
      ['/fishheads/catfish.htm'],
    ),
    {
      source: 'testCommentedOutLines',
      body: ['#user-agent: FooBot', '', '#disallow: /', '#allow: /test'],
      allowed: ['/anypage.html'],
    },
    {
      source: 'testAgentNotListed',
      body: ['User-agent: crawler1', 'Disallow: /index.html', 'Allow: /', '', 'User-agent: crawler2', 'Disallow: /'],
      agent: 'crawler3',
      allowed: ['/anypage.html', '/index.html'],
    },
    {
      source: 'testUnicodeUnescapedPaths',
      body: ['User-agent: *', 'Disallow: /bücher/', 'Disallow: /k%C3%B6nyvek/'],
      allowed: ['/'],
      disallowed: ['/b%C3%BCcher/1', '/bücher/2', '/k%C3%B6nyvek/1', '/könyvek/2'],
    },
    {
      source: 'testDisallowWithQueryOnly',
      body: ['User-agent: *', 'Disallow: /'],
      disallowed: ['http://www.example.com', 'http://www.example.com?q=a'],
    },
    {
      source: 'testNutchCases',
      body: nutch,
      agent: 'Agent1',
      allowed: ['/b', '/b/b/foo.html', '/c', '/c/a', '/d', '/e/d/foo.html', '/foo/bar/baz.html', '/f/'],
      disallowed: ['/a', '/a/', '/a/bloh/foo.html', '/b/a', '/b/a/index.html'],
    },
    {
      source: 'testNutchCases2',
      body: nutch,
      agent: 'Agent2',
      allowed: ['/a', '/b/a', '/e/a/index.html', '/e/d', '/e/doh.html', '/foo/bar/baz.html'],
      disallowed: ['/d', '/d/a', '/e/d/foo.html'],
    },
    {
      source: 'testNutchCases2',
      body: nutch,
      agent: 'Agent4',
      allowed: ['/a', '/e/d'],
      disallowed: ['/d', '/d/a', '/e/d/foo.html'],
    },
    {
      source: 'testNutchCases3',
      body: nutch,
      agent: 'Agent5',
      allowed: ['/a', '/b/a', '/d', '/e/d/foo.html', '/f/'],
      disallowed: ['/foo/bar/baz.html'],
    },
    {
      source: 'testHtmlMarkupInRobotsTxt',
      body: [
        '<HTML>',
        '<BODY>',
        'User-agent: mybot<BR>',
        'Disallow: <BR>',
        '',
        'User-agent: *<BR>',
        'Disallow: /<BR>',
        '</BODY>',
      ],
      agent: 'mybot',
      allowed: ['/index.html'],
    },
    {
      source: 'testHtmlMarkupInRobotsTxt',
      body: [
        '<HTML>',
        '<BODY>',
        'User-agent: mybot<BR>',
        'Disallow: <BR>',
        '',
        'User-agent: *<BR>',
        'Disallow: /<BR>',
        '</BODY>',
      ],
      agent: 'bogusbot',
      disallowed: ['/index.html'],
    },
    { source: 'testIgnoreOfHtml', body: '<HTML><HEAD><TITLE>Site under Maintenance</TITLE></HTML>', allowed: ['/'] },
    {
      source: 'testCaseSensitivePaths',
      body: ['User-agent: *', 'Allow: /AnyPage.html', 'Allow: /somepage.html', 'Disallow: /'],
      allowed: ['/AnyPage.html', '/somepage.html'],
      disallowed: ['/anypage.html', '/SomePage.html'],
    },
    {
      source: 'testEmptyDisallowLowestPrecedence',
      body: ['User-agent: *', 'Disallow: /disallowed/', 'Allow: /allowed/', 'Disallow: '],
      allowed: ['/', '/anypage.html', '/allowed/index.html'],
      disallowed: ['/disallowed/index.html'],
    },
    {
      source: 'testEmptyDisallowLowestPrecedence, merged',
      body: ['User-agent: *', 'Disallow: /disallowed/', 'User-agent: *', 'Disallow: '],
      allowed: ['/'],
      disallowed: ['/disallowed/index.html'],
    },
    {
      source: 'testMultiWildcard',
      body: ['User-agent: *', 'Disallow: /index.html', 'Allow: /', '', 'User-agent: *', 'Disallow: /'],
      allowed: ['/anypage.html'],
      disallowed: ['/index.html'],
    },
    {
      source: 'testMultiMatches',
      body: ['User-agent: crawlerbot', 'Disallow: /index.html', 'Allow: /', '', 'User-agent: crawler', 'Disallow: /'],
      agent: 'crawlerbot',
      allowed: ['/anypage.html'],
      disallowed: ['/index.html'],
    },
    {
      source: 'testAgentTokenMatch',
      body: ['User-agent: foo/1.2', 'Disallow: /index.html', 'Allow: /'],
      agent: 'foo',
      allowed: ['/anypage.html'],
      disallowed: ['/index.html'],
    },
    {
      source: 'testUnsupportedFields',
      body: [
        'User-agent: crawler1',
        'Disallow: /index.html',
        'Allow: /',
        'newfield: 234',
        'User-agent: crawler2',
        'Disallow: /',
      ],
      agent: 'crawler2',
      disallowed: ['/anypage.html'],
    },
    {
      source: 'testBrokenKrugleRobotsTxtFile',
      body: krugle,
      agent: 'googlebot',
      disallowed: ['/examples/index.html', '/'],
    },
    {
      source: 'testBrokenKrugleRobotsTxtFile',
      body: krugle,
      agent: 'anybot',
      allowed: ['/'],
      disallowed: ['/examples/index.html'],
    },
    {
      source: 'directive-typos-robots.txt',
      body: ['User-agent: bot1', 'Desallow: /desallow/', 'dissalow: /dissalow/'],
      agent: 'bot1',
      disallowed: ['/desallow/', '/dissalow/'],
    },
    ...['useragent: bot', 'useg-agent: bot', 'useragent bot', 'User Agent: bot', 'user-agents: bot'].map(
      (line): Vector => ({
        source: 'directive-typos-robots.txt',
        body: [line, 'Disallow: /x/'],
        agent: 'bot',
        disallowed: ['/x/'],
      }),
    ),
    {
      source: 'format-errors-robots.txt',
      body: ['User-agent: bot1', 'disallow : /whitespace-before-colon/', 'disallow /no-colon/'],
      agent: 'bot1',
      allowed: ['/'],
      disallowed: ['/whitespace-before-colon/', '/no-colon/'],
    },
    {
      source: 'format-errors-robots.txt',
      body: ['user-agent: bot3', 'allow : /whitespace-before-colon', 'disallow: /', 'sitemap : /sitemap.xml'],
      agent: 'bot3',
      allowed: ['/whitespace-before-colon/'],
      disallowed: ['/x'],
    },
    {
      source: 'merge-rules.txt',
      body: [
        'User-Agent: curl',
        'Disallow: /',
        '',
        'User-Agent: wget',
        'Allow: /foo/bar',
        '',
        'User-Agent: *',
        'User-Agent: wget',
        'Disallow: /foo/bar',
        'Disallow: /tmp/bar',
        'Allow: /ckh/bar',
      ],
      agent: 'wget',
      allowed: ['/foo/bar/bar.txt', '/chk/bar/bar.txt'],
      disallowed: ['/tmp/bar/bar.txt'],
    },
    {
      source: 'precedence-of-rules.txt',
      body: ['User-Agent: wget', 'Allow: /', 'Allow: /foo', 'Allow: /index.html', 'Disallow: /*'],
      agent: 'wget',
      allowed: ['/foo/bar', '/index.html'],
      disallowed: ['/bar/foo'],
    },
    {
      source: 'precedence-of-rules.txt',
      body: ['User-Agent: testy', 'Disallow: /foo', 'User-Agent: testy', 'Allow: /foo/bar', 'Disallow: /foo/b*'],
      agent: 'testy',
      allowed: ['/', '/foo/bar'],
      disallowed: ['/foo/blue', '/foo/', '/foo/tar'],
    },
    {
      source: 'malformed-path.txt',
      body: [
        'User-agent: *',
        'Disallow: /wiki/Wikipedia_talk:Mediation_Committee/',
        'Disallow: /wiki/Wikipedia_talk%3Mediation_Committee/',
      ],
      allowed: ['/wiki/'],
      disallowed: ['/wiki/Wikipedia_talk:Mediation_Committee/'],
    },
    {
      source: 'wildcards.txt',
      body: ['User-agent: *', 'Disallow: /wishlist/', 'Allow: /wishlist/universal*', 'Disallow: */gcrnsts'],
      allowed: ['/wishlist/universal/page'],
      disallowed: ['/wishlist/bogus', '/anydirectoryhere/gcrnsts'],
    },
    {
      source: 'testMatchingOfUserAgentNames…',
      body: ['User-agent: crawlerbot', 'Disallow: /foo/bar', 'User-agent: crawler', 'Allow: /foo/bar'],
      agent: 'crawler',
      allowed: ['/foo/bar'],
    },
    {
      source: 'testMatchingOfUserAgentNames…',
      body: ['User-agent: crawler', 'Allow: /foo/bar', 'User-agent: crawlerbot', 'Disallow: /foo/bar'],
      agent: 'crawlerbot',
      disallowed: ['/foo/bar'],
    },
    {
      source: 'testMatchingUserAgentNamesHttpHeader',
      body: ['User-agent: Mozilla/5.0 (compatible; Butterfly/1.0; +http://labs.topsy.com/butterfly/)', 'Disallow: /'],
      agent: 'butterfly',
      allowed: ['/'],
    },
  ])
})

describe('robots-parser, test/Robots.js', () => {
  verify([
    {
      source: 'patterns',
      body: ['User-agent: *', 'Disallow: /fish*.php', 'Disallow: /*.dext$', 'Disallow: /dir*'],
      allowed: ['/Fish.PHP', '/Fish.dext1', '/folder/dir.html', '/folder/dir/test.html'],
      disallowed: [
        '/fish.php',
        '/fishheads/catfish.php?parameters',
        '/AnYthInG.dext',
        '/Fish.dext.dext',
        '/dir/test.html',
        '/directory.html',
      ],
    },
    {
      source: 'precedence',
      body: [
        'User-agent: *',
        'Disallow: /fish*.php',
        'Allow: /fish/index.php',
        'Disallow: /test',
        'Allow: /test/',
        'Disallow: /aa/',
        'Allow: /aa/',
        'Allow: /bb/',
        'Disallow: /bb/',
      ],
      allowed: ['/test/index.html', '/fish/index.php', '/test/', '/aa/', '/bb/', '/x/'],
      disallowed: ['/fish.php', '/fishheads/catfish.php?parameters', '/test'],
    },
    {
      source: 'precedence of wildcards',
      body: ['User-agent: *', 'Disallow: /*/', 'Allow: /x/'],
      allowed: ['/x/', '/fish.php', '/test'],
      disallowed: ['/a/', '/xx/', '/test/index.html'],
    },
    {
      source: 'mixed line endings',
      body: 'User-agent: *\rDisallow: /fish/\r\nDisallow: /test.html\n\n',
      allowed: ['/fish', '/Test.html'],
      disallowed: ['/fish/index.php', '/test.html'],
    },
    {
      source: 'invalid lines',
      body: [
        'invalid line',
        'User-agent: *',
        'Disallow: /fish/',
        ':::::another invalid line:::::',
        'Disallow: /test.html',
        'Unknown: tule',
      ],
      allowed: ['/fish'],
      disallowed: ['/fish/', '/test.html'],
    },
    {
      source: 'empty user-agent lines',
      body: ['User-agent:', 'Disallow: /fish/', 'Disallow: /test.html'],
      allowed: ['/fish/', '/test.html'],
    },
    {
      source: 'Unicode and urlencoded paths',
      body: [
        'User-agent: *',
        'Disallow: /%CF%80',
        'Disallow: /%e2%9d%83',
        'Disallow: /%a%a',
        'Disallow: /💩',
        'Disallow: /✼*t$',
        'Disallow: /%E2%9C%A4*t$',
        'Disallow: /✿%a',
        'Disallow: /http%3A%2F%2Fexample.org',
      ],
      allowed: ['/✼testing', '/%E2%9C%BCtesting', '/✤testing', '/%E2%9C%A4testing', '/http://example.org'],
      disallowed: [
        '/%CF%80',
        '/%CF%80/index.html',
        '/π',
        '/π/index.html',
        '/%e2%9d%83',
        '/%E2%9D%83/index.html',
        '/❃',
        '/%F0%9F%92%A9',
        '/💩',
        '/💩/index.html',
        '/%a%a',
        '/%a%a/index.html',
        '/✼test',
        '/%E2%9C%BCtest',
        '/✤test',
        '/%E2%9C%A4testt',
        '/✿%a',
        '/%E2%9C%BF%atest',
        '/http%3A%2F%2Fexample.org',
        // Allowed by the suite; RFC 9309 §2.2.2 encodes a reserved character before it compares.
        '/http:%2F%2Fexample.org',
      ].map((path) => `http://www.example.com${path}`),
    },
    {
      source: 'lone surrogates',
      body: ['User-agent: *', 'Disallow: /\uD800', 'Disallow: /\uDC00'],
      allowed: ['/\uDC00', '/\uD800', '/%EF%BF%BD'],
    },
    {
      source: 'object property names',
      body: ['User-agent: *', 'Disallow: /fish'],
      agent: 'constructor',
      disallowed: ['/fish'],
    },
    {
      source: 'object property names',
      body: ['User-agent: *', 'Disallow: /fish'],
      agent: '__proto__',
      disallowed: ['/fish'],
    },
    {
      source: 'large wildcards',
      body: ['User-agent: *', `Disallow: /${'*'.repeat(2048)}.html`],
      allowed: [`/${'sub'.repeat(2048)}folder/index.php`],
      disallowed: ['/secret.html'],
    },
    {
      source: 'odd colons',
      body: [
        'user-agent:',
        'user-agent:::: a::',
        'crawl-delay:',
        'sitemap:: site:map.xml',
        'disallow:',
        'disallow::: /:',
        'allow:',
        'allow::: /:',
      ],
      allowed: ['/', '/:'],
    },
  ])
})

describe('protego and reppy', () => {
  const ruleBots = (disallow: readonly string[]): string[] => ['User-agent: TestBot', ...disallow]
  verify([
    ...['Disallow', 'Dissallow', 'Dissalow', 'Disalow', 'Diasllow', 'Disallaw'].map((name): Vector => ({
      source: 'test_malformed_disallow',
      body: ['User-agent: * ', `${name}: /one `],
      disallowed: ['/one'],
    })),
    pattern('test_escaped_url', '/a%3c*', ['/a<d.html', '/a%3cd.html'], ['/ad.html']),
    pattern('test_unescaped_url', '/a<d.html', ['/a<d.html', '/a%3cd.html', '/a%3Cd.html'], ['/ad.html']),
    pattern('test_unescaped_url', '/a<*', ['/a<d.html', '/a%3cd.html'], ['/ad.html']),
    pattern(
      'test_url_parts',
      '/path;params?query',
      ['http://userinfo@exmaple.com:10/path;params?query#fragment'],
      ['/path;params', '/path'],
    ),
    pattern('test_url_parts', '/?', ['/?query'], ['/']),
    pattern('test_url_parts', '/;', ['/;params'], ['/']),
    {
      source: 'test_allowed_wildcards',
      body: ruleBots(['Disallow: /disallowed/*/end$', 'Disallow: /protego*work']),
      agent: 'testbot',
      allowed: ['/disallowed', '/disallowed/xyz/endinglater', '/rotego_does_work', '/protego_does_wor'],
      disallowed: [
        '/disallowed/xyz/end',
        '/disallowed/abc/end',
        '/protegoworks',
        '/protego/works',
        '/protego_does_work',
      ],
    },
    {
      source: 'test_allowed_wildcards',
      body: ruleBots(['Allow: /*allowed', 'Disallow: /']),
      agent: 'testbot',
      allowed: ['/allowed', '/is_still_allowed', '/is_allowed_too'],
      disallowed: ['/allow'],
    },
    {
      source: 'test_allowed_wildcards',
      body: ruleBots(['Disallow: /foo*/bar.html']),
      agent: 'testbot',
      allowed: ['/fo.html', '/food/xyz.html'],
      disallowed: ['/foo/bar.html', '/food/bar.html', '/foo/a/b/c/x/y/z/bar.html'],
    },
    {
      source: 'test_allowed_wildcards',
      body: ruleBots(['Disallow: *m']),
      agent: 'testbot',
      allowed: ['/foo', '/foo/bar.txt'],
      disallowed: ['/foo.htm', '/foom', '/moo', '/foo/bar.html'],
    },
    {
      source: 'test_allowed_wildcards',
      body: ruleBots(['Allow: /foo/bar.html', 'Disallow: *']),
      agent: 'testbot',
      allowed: ['/foo/bar.html'],
      disallowed: ['/fo.html', '/foo', '/foo/bar.txt'],
    },
    {
      source: 'test_allowed_wildcards',
      body: ruleBots(['Disallow: /foo*/*bar.html']),
      agent: 'testbot',
      allowed: ['/food/rebarf.html'],
      disallowed: ['/foo/bar.html', '/food/rebar.html', '/foo/a/b/c/rebar.html'],
    },
    {
      source: 'test_allowed_wildcards',
      body: ruleBots(['Allow: /foo$', 'Disallow: /foo']),
      agent: 'testbot',
      allowed: ['/foo'],
      disallowed: ['/foo/', '/foo/bar.html', '/fooey'],
    },
    {
      source: 'test_allowed_wildcards',
      body: ruleBots(['Allow: *****************/****.js', 'Disallow: /x']),
      agent: 'testbot',
      allowed: ['/x/foo.js', '/inlife/daily/'],
      disallowed: ['/xyz.html'],
    },
    {
      source: 'test_unicode_url_and_useragent',
      body: [
        'User-Agent: *',
        'Disallow: /wiki/K%C3%A4ytt%C3%A4j%C3%A4:',
        'Disallow: /wiki/Keskustelu_käyttäjästä:',
        'User-Agent: UnicödeBöt',
        'Disallow: /page.html',
      ],
      agent: '*',
      allowed: ['/', '/page.html'],
      disallowed: [
        '/wiki/K%C3%A4ytt%C3%A4j%C3%A4:',
        '/wiki/Käyttäjä:',
        '/wiki/Keskustelu_k%C3%A4ytt%C3%A4j%C3%A4st%C3%A4:',
      ],
    },
    {
      source: 'test_unicode_url_and_useragent',
      body: ['User-Agent: UnicödeBöt', 'Disallow: /page.html', 'User-agent: Jävla-Foobot', 'Disallow: /'],
      agent: 'UnicödeBöt',
      allowed: ['/'],
      disallowed: ['/page.html'],
    },
    {
      source: 'test_unicode_url_and_useragent',
      body: ['User-agent: Jävla-Foobot', 'Disallow: /'],
      agent: 'jävla-fanbot',
      allowed: ['/'],
    },
    {
      source: 'test_unicode_url_and_useragent',
      body: ['User-agent: Jävla-Foobot', 'Disallow: /'],
      agent: 'jävla-foobot',
      disallowed: ['/'],
    },
    {
      source: 'test_empty_record_group',
      body: ['User-Agent: harrybot', 'Disallow: /', 'User-Agent: testbot'],
      agent: 'testbot',
      allowed: ['/path1'],
    },
    {
      source: 'test_nonterminal_dollar',
      body: [
        'user-agent: FooBot',
        'disallow: /x$/abc',
        'disallow: /y/abc$',
        'disallow: /x*x$/abc',
        'disallow: /y*y/abc$',
      ],
      allowed: ['/y/abcdef', '/yabcy/abcdef'],
      disallowed: ['/x$/abcdef', '/x%24/abcdef', '/y/abc', '/xabcx$/abcdef', '/xabcx%24/abcdef', '/yabcy/abc'],
    },
    {
      source: 'test_escaped_special_symbols',
      body: ['user-agent: FooBot', 'disallow: /x/abc%24', 'disallow: /x%2Ax/abc'],
      allowed: ['/x/abc', '/xabcx/abc'],
      disallowed: ['/x/abc$abc', '/x/abc$', '/x*x/abc', '/x*x/abcdef'],
    },
    {
      source: 'test_with_absolute_urls',
      body: ['user-agent: *', 'disallow: http://ms-web00.walkerplus.com/'],
      allowed: ['http://foo.bar/'],
      disallowed: ['http://foo.bar/http://ms-web00.walkerplus.com/'],
    },
    pattern(
      'test_leading_double_slash_in_pattern',
      '//folder/*',
      ['http://example.com//folder/page'],
      ['http://example.com/', 'http://example.com/folder/', 'http://example.com//folder'],
    ),
    pattern('test_disallow_query_wildcard', '/*s=', ['/?s=asd'], ['/', '/s/']),
    {
      source: 'test_leading_asterisk',
      body: ['User-Agent: *', 'allow: */p', 'disallow: /'],
      allowed: ['http://example.com/page'],
    },
    {
      source: 'test_leading_asterisk',
      body: ['User-Agent: *', 'allow: /page', 'disallow: */*.htm'],
      disallowed: ['https://example.com/page.htm'],
    },
    {
      source: 'test_user_agent_precedence',
      body: ['user-agent: hedwig-news', 'disallow: /', 'user-agent: *', 'disallow: /2'],
      agent: 'hedwig-news2',
      disallowed: ['/x'],
    },
    {
      source: 'reppy MiddleWildcard',
      body: ['User-agent: agent', 'Disallow: /test*foo'],
      agent: 'agent',
      allowed: ['/testfo', '/estfoo'],
      disallowed: ['/testfoo', '/testafoo', '/testaasdffoo', '/test/foo'],
    },
  ])
})

describe('temoto/robotstxt, spatie/robots-txt', () => {
  const spatie = [
    'User-agent: *',
    '',
    'Disallow: /*?print',
    'Disallow: /en/admin/*',
    'Disallow: /fr/admin$',
    'Disallow: /es/admin-disallow/',
    'Disallow: /abc/123*',
    'Allow: /abc/1234/explicit.html',
    '',
    'User-agent: google',
    '',
    'Disallow: /',
    'User-agent: UserAgent007',
    '',
    'Disallow: /no-agents',
    '',
    'User-agent: UserAgent012',
    '',
    'User-agent: UserAgent013',
    '',
    'Allow: /*?print',
    'Disallow: /nl/admin/',
  ]
  verify([
    pattern(
      'TestURLMatching f, no slash',
      'fish/',
      ['/fish/', '/fish/?id=anything', '/fish/salmon.htm'],
      ['/fish', '/fish.html', '/Fish/Salmon.asp'],
    ),
    {
      source: 'TestWildcardPrefix',
      body: '\uFEFFUser-agent: *\nDisallow: */oroscopo-di-oggi/*',
      allowed: ['/foo/bar'],
      disallowed: ['/oroscopo-di-oggi/bar', '/foo/oroscopo-di-oggi/bar'],
    },
    ...(['a', 'b', 'c'] as const).map((agent): Vector => {
      const closed = { a: ['/a', '/b'], b: ['/a', '/b', '/c'], c: ['/b', '/c'] }[agent]
      return {
        source: 'TestGrouping',
        body: [
          'user-agent: a',
          'user-agent: b',
          'disallow: /a',
          'disallow: /b',
          '',
          'user-agent: ignore',
          'Disallow: /separator',
          '',
          'user-agent: b',
          'user-agent: c',
          'disallow: /b',
          'disallow: /c',
        ],
        agent,
        allowed: ['/a', '/b', '/c', '/separator'].filter((path) => !closed.includes(path)),
        disallowed: closed,
      }
    }),
    {
      source: 'spatie robots.txt',
      body: spatie,
      agent: 'any',
      allowed: [
        '/',
        '/en/admin',
        '/en/admin?id=123',
        '/fr/ad',
        '/fr/admin/',
        '/fr/admin?',
        '/fr/admin?test',
        '/abc/1234/explicit.html',
      ],
      disallowed: [
        '/en/admin/',
        '/en/admin/users',
        '/en/admin?print',
        '/en/admin?print=true',
        '/fr/admin',
        '/es/admin-disallow/',
        '/abc/1234',
        '/abc/1234/not_mentioned.html',
      ],
    },
    { source: 'spatie robots.txt', body: spatie, agent: 'google', disallowed: ['/', '/test'] },
    {
      source: 'spatie robots.txt',
      body: spatie,
      agent: 'useragent007',
      allowed: ['/', '/en/admin/'],
      disallowed: ['/no-agents'],
    },
    {
      source: 'spatie robots.txt',
      body: spatie,
      agent: 'UserAgent012',
      allowed: ['/en/admin?print=true', '/fr/admin'],
      disallowed: ['/nl/admin/'],
    },
  ])
})

describe('percent-encoding, URL Standard and RFC 3986', () => {
  const unreserved = Array.from('azAZ09-._~').map((char) => [char, `%${char.charCodeAt(0).toString(16)}`] as const)
  const delimiters = Array.from('/?').map((char) => [char, `%${char.charCodeAt(0).toString(16)}`] as const)
  const reserved = Array.from(':@!&()+,;=').map((char) => [char, `%${char.charCodeAt(0).toString(16)}`] as const)
  const forbidden = Array.from(' "<>\\^`{|}[]\'').map((char) => [char, `%${char.charCodeAt(0).toString(16)}`] as const)
  verify([
    ...unreserved.map(([char, code]) =>
      pattern('unreserved: one thing', `/x${char}y`, [`/x${char}y`, `/x${code}y`, `/x${code.toUpperCase()}y`], []),
    ),
    ...unreserved.map(([char, code]) =>
      pattern('unreserved: one thing', `/x${code}y`, [`/x${char}y`, `/x${code}y`], []),
    ),
    ...delimiters.map(([char, code]) =>
      pattern('a delimiter of the path: two things', `/x${char}y`, [`/x${char}y`], [`/x${code}y`]),
    ),
    ...delimiters.map(([char, code]) =>
      pattern(
        'a delimiter of the path: two things',
        `/x${code}y`,
        [`/x${code}y`, `/x${code.toUpperCase()}y`],
        [`/x${char}y`],
      ),
    ),
    ...reserved.map(([char, code]) =>
      pattern('reserved, but data in a path: one thing', `/x${char}y`, [`/x${char}y`, `/x${code}y`], ['/xy']),
    ),
    ...reserved.map(([char, code]) =>
      pattern('reserved, but data in a path: one thing', `/x${code}y`, [`/x${char}y`, `/x${code}y`], ['/xy']),
    ),
    ...forbidden.map(([char, code]) =>
      pattern('not allowed in a URI: one thing', `/x${char}y`, [`/x${char}y`, `/x${code}y`], ['/xy']),
    ),
    ...forbidden.map(([char, code]) =>
      pattern('not allowed in a URI: one thing', `/x${code}y`, [`/x${char}y`, `/x${code}y`], ['/xy']),
    ),
    ...[':', '/', '?', '@'].map((char) =>
      pattern(
        'no delimiter in a query: one thing',
        `/p?u=${char}y`,
        [`/p?u=${char}y`, `/p?u=${encodeURIComponent(char)}y`],
        ['/p?u=y'],
      ),
    ),
    ...['&', '=', '+', ';', ','].map((char) =>
      pattern(
        'a delimiter in a query: two things',
        `/p?u=${char}y`,
        [`/p?u=${char}y`],
        [`/p?u=${encodeURIComponent(char)}y`],
      ),
    ),
    pattern('a stray percent sign', '/100%', ['/100%', '/100%zz', '/100%2'], ['/100', '/10']),
    pattern('a slash of the query is a slash to a star', '/*/print', ['/a?u=/b/print'], ['/a?u=%2Fb%2Fprint']),
    pattern('stars', '/a**b', ['/ab', '/axb', '/a/x/by'], ['/a', '/ba']),
    pattern('star before the end', '/a*$', ['/a', '/ab', '/a/b?c'], ['/b']),
    pattern('star and dollar', '/*$', ['/', '/a'], []),
    pattern('two dollars', '/a$$', ['/a$', '/a%24'], ['/a', '/a$$']),
    pattern('dollar before a star', '/a$*', ['/a$', '/a$b'], ['/a']),
    pattern('only a dollar', '$', [], ['/', '/$']),
    pattern('ending overlapping the prefix', '/aba*aba$', ['/abaaba', '/abaxaba'], ['/aba', '/ababa']),
    pattern('pieces in order', '/*b*a$', ['/ba', '/aba', '/xbxa'], ['/ab', '/a', '/b']),
  ])
})

describe('google/robotstxt-spec-test', () => {
  verify([
    {
      source: 'stress/860237, a token is read off a name with digits',
      body: ['User-agent: *', 'Crawl-delay : 60', 'Disallow : /*baz*', '', 'User-agent: XYZ123bot', 'Disallow: /'],
      agent: 'XYZ',
      disallowed: ['http://example.com/foo', 'http://example.com/'],
    },
    {
      source: 'stress/369883, line breaks of HTML between the lines',
      body: ['User-agent: *', '<br />', 'Allow: /', '<br />', 'User-agent: BarBot', '<br />', 'Disallow: /', '<br />'],
      agent: 'BarBot',
      disallowed: ['http://example.com/foo/bar'],
    },
  ])
})

describe('the index page of a directory, google/robotstxt and crawler-commons', () => {
  verify([
    {
      source: 'testPrecedenceOfRules',
      body: ['User-Agent: wget', 'Allow: /', 'Allow: /foo', 'Allow: /index.html', 'Disallow: /*'],
      agent: 'wget',
      allowed: ['/', '/foo', '/index.html'],
      disallowed: ['/?q', '/bar', '/index.htm'],
    },
    {
      source: 'with stars and an end',
      body: ['User-agent: *', 'Allow: /*/index.htm$', 'Disallow: /'],
      allowed: ['/a/', '/a/b/', '/a/index.htm'],
      disallowed: ['/a', '/a/index.html', '/a/?q'],
    },
    {
      source: 'a longer rule still wins',
      body: ['User-agent: *', 'Allow: /a/index.html', 'Disallow: /a/*'],
      allowed: ['/a/index.html', '/a/'],
      disallowed: ['/a/b'],
    },
    {
      source: 'a disallow rule closes only what it says',
      body: ['User-agent: *', 'Disallow: /a/index.html'],
      allowed: ['/a/', '/a/index.htm'],
      disallowed: ['/a/index.html'],
    },
    {
      source: 'another name is not an index',
      body: ['User-agent: *', 'Allow: /a/my-index.html', 'Disallow: /'],
      disallowed: ['/a/'],
    },
  ])
})

describe('names of crawlers, robots-txt-guard, protego, robotexclusionrulesparser', () => {
  const body = ['User-agent: agent', 'Disallow: /1', '', 'User-agent: agent1', 'Disallow: /2']
  const disguised = [
    'User-agent: ExampleBot',
    'Disallow: /foo',
    'Disallow: /bar',
    '',
    'User-agent: *',
    'Disallow: /baz',
  ]
  const lviv = ['User-agent: Львів-bot', 'Disallow: /totalitarianism/']
  verify([
    { source: 'the word before the token', body, agent: 'agent', allowed: ['/2'], disallowed: ['/1'] },
    { source: 'the word before the token', body, agent: 'agent1', allowed: ['/1'], disallowed: ['/2'] },
    { source: 'the token when no word is found', body, agent: 'agent2', allowed: ['/2'], disallowed: ['/1'] },
    {
      source: 'RFC 9309 §2.2.1, the User-Agent header of the example',
      body: disguised,
      agent: 'Mozilla/5.0 (compatible; ExampleBot/0.1; https://www.example.com/bot.html)',
      allowed: ['/baz'],
      disallowed: ['/foo', '/bar'],
    },
    {
      source: 'a browser',
      body: disguised,
      agent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36',
      allowed: ['/foo'],
      disallowed: ['/baz'],
    },
    {
      source: 'a group for what the crawler passes for',
      body: ['User-agent: Mozilla', 'Disallow: /foo'],
      agent: 'Mozilla/5.0 (compatible; ExampleBot/0.1)',
      disallowed: ['/foo'],
    },
    {
      source: 'test_non_ascii',
      body: lviv,
      agent: 'Mozilla/5.0 (compatible; Львів-bot/1.1)',
      allowed: ['/'],
      disallowed: ['/totalitarianism/foo.htm'],
    },
  ])
})

describe('CPython, test_robotparser.py, PercentEncodingTest', () => {
  verify([
    pattern('data in a path', '/wiki/Special:', ['/wiki/Special:A', '/wiki/Special%3AA', '/wiki/Special%3aA'], []),
    pattern('data in a path, behind a star', '/*/a%3Db', ['/x/a=b', '/x/a%3Db', '/x/?/a%3Db'], ['/x/?/a=b']),
    pattern('no query', '/question%3Fq=v', ['/question%3Fq=v'], ['/question?q=v']),
    pattern('in a query', '/question?q=%3F', ['/question?q=?', '/question?q=%3F'], ['/question?q=']),
    pattern('in a query', '/question?q=?', ['/question?q=?', '/question?q=%3F'], ['/question?q=']),
    pattern('a delimiter of the query', '/eq?q%3Dv', ['/eq?q%3Dv'], ['/eq?q=v']),
    pattern('a delimiter of the query', '/amp?q=v%26a', ['/amp?q=v%26a'], ['/amp?q=v&a']),
    pattern('encoded twice', '/p%2525xy', ['/p%2525xy'], ['/p%xy', '/p%25xy']),
    pattern('specials', '/dollar%24', ['/dollar$', '/dollar%24'], ['/dollar']),
    pattern('specials', '/asterisk%2A', ['/asterisk*', '/asterisk%2A'], ['/asterisk']),
  ])
})

describe('texting_robots and crawler-commons', () => {
  verify([
    {
      source: 'test_robot_handles_random_nulls',
      body: ['User-Agent: *', '\0\0Allow: /family\0\0', 'Disallow: /family/photos\0\0\0'],
      allowed: ['/family'],
      disallowed: ['/family/photos'],
    },
    {
      source: 'test_robot_crazy_long_regex',
      body: ['User-agent: *', 'Disallow: /basket*', `Disallow: /*?${'*'.repeat(84)}donotindex=1*`],
      allowed: ['/example/file?xyz=42'],
      disallowed: ['/basket/ball', '/example/file?xyz=42&donotindex=1'],
    },
  ])

  it('testSitemap: the bare address of a sitemap is one', () => {
    const { sitemaps } = parseRobots(
      'Sitemap: http://a/1.xml\nhttp://a/dir/my-Sitemap.xml\nhttps://a/about\nhttp: sitemap\n',
    )
    expect(sitemaps).toEqual(['http://a/1.xml', 'http://a/dir/my-Sitemap.xml'])
  })
})
