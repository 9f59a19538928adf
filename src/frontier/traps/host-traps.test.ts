import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { contentSample } from '../../content/index.ts'
import type { ContentSample, NormalizedUrl } from '../../model/index.ts'
import { normalizeUrl } from '../../url/index.ts'
import { createAddresses, createHostTraps, createRooms, createUnderWay, type HostTraps, type Rooms } from './index.ts'
import { prose, token } from './test-support/sites.ts'

const at = (target: string): NormalizedUrl => normalizeUrl(`https://host.test${target}`) as NormalizedUrl
const saying = (name: string, url: NormalizedUrl): ContentSample => contentSample(prose(name, 60), url, '')
const learn = (traps: HostTraps, target: string, name = target): boolean =>
  traps.learn(at(target), saying(name, at(target)))

describe('rules', () => {
  test.each([
    ['/docs/docs/docs/x', 'its path repeats /docs 3 times'],
    ['/a/b/a/b/a/b/', 'its path repeats /a/b 3 times'],
    ['/a/x/a/y/a/z/a/', 'a segment of its path occurs 4 times'],
    ['/s?a=1&b=2&a=1', 'it has the parameter a=1 twice'],
    [`/s?${Array.from({ length: 13 }, (_, n) => `k${n}=1`).join('&')}`, 'it has 13 parameters'],
    [`/${Array.from({ length: 25 }, (_, n) => `f${n}`).join('/')}`, 'its path has 25 segments'],
    [`/${'x'.repeat(2_000)}`, 'it is 2018 characters long'],
  ])('set %s aside, and say why', (target, reason) => {
    expect(createHostTraps(undefined).judge(at(target))).toBe(reason)
  })

  test.each(['/', '/docs/docs/', '/api/v1/api/users', '/2011/11/11/11/', '/a/b/c/d/e/f/g/h/i/j', '/s?a=1&a=2&b=3'])(
    'let %s pass',
    (target) => {
      expect(createHostTraps(undefined).judge(at(target))).toBeUndefined()
    },
  )

  test('are lifted by a probe that brings something new, but not the final ones', () => {
    const traps = createHostTraps(undefined)
    expect(traps.mayProbe(at('/x/x/x/1'))).toBe(true)
    expect(traps.mayProbe(at('/x/x/x/1'))).toBe(false)
    expect(learn(traps, '/x/x/x/1')).toBe(true)
    expect(traps.judge(at('/x/x/x/2'))).toBeUndefined()
    const endless = at(`/${Array.from({ length: 41 }, (_, n) => `f${n}`).join('/')}`)
    expect(traps.judge(endless)).toBeDefined()
    expect(traps.mayProbe(endless)).toBe(false)
  })
})

describe('a part that makes no difference', () => {
  const withSessions = (): HostTraps => {
    const traps = createHostTraps(undefined)
    for (const page of ['/a', '/b']) {
      for (const session of ['one', 'two']) learn(traps, `${page}?s=${token(session + page)}`, page)
    }
    return traps
  }

  test('sets aside what was found with another value, and nothing else', () => {
    const traps = withSessions()
    expect(traps.judge(at(`/a?s=${token('three')}`))).toBe(
      'the session id s makes no difference, and the page was found without it',
    )
    expect(traps.judge(at('/c?s=1'))).toBeUndefined()
  })

  test('sets aside the same page without it, though that was read before the part was known for a session', () => {
    const traps = withSessions()
    learn(traps, '/plain')
    expect(traps.judge(at('/a'))).toBe('the page was found with a session id, which makes no difference')
    expect(traps.judge(at('/c'))).toBeUndefined()
    expect(traps.judge(at('/d'))).toBeUndefined()
  })

  test('lets pass again what it let pass once, but not another URL for the same page', () => {
    const traps = withSessions()
    const first = at(`/new?s=${token('x')}`)
    const second = at(`/new?s=${token('y')}`)
    for (const url of [first, second]) expect(traps.judge(url)).toBeUndefined()
    traps.letPass(first)
    expect(traps.judge(first)).toBeUndefined()
    expect(traps.judge(second)).toBeDefined()
  })

  test('stays so when a probe finds what is known, and that was the only one', () => {
    const traps = withSessions()
    const probe = `/a?s=${token('three')}`
    expect(traps.mayProbe(at(probe))).toBe(true)
    expect(learn(traps, probe, '/a')).toBe(false)
    const list = ['1', '2', '3', '4']
    for (const value of list) learn(traps, `/list?view=${value}`, '/list')
    expect(traps.judge(at('/list?view=5'))).toContain('view')
    expect(traps.mayProbe(at('/list?view=5'))).toBe(false)
  })

  test('is believed to make one again when a probe shows so', () => {
    const traps = createHostTraps(undefined)
    for (const value of ['1', '2', '3', '4']) learn(traps, `/list?view=${value}`, '/list')
    const suspect = '/list?view=5'
    expect(traps.judge(at(suspect))).toContain('view')
    expect(learn(traps, suspect, 'something new')).toBe(true)
    expect(traps.judge(at('/list?view=7'))).toBeUndefined()
  })

  test('is a matter of its page while other pages have not shown the same', () => {
    const traps = createHostTraps(undefined)
    for (const value of ['1', '2', '3', '4']) learn(traps, `/about?q=${value}`, '/about')
    learn(traps, '/search', '/search')
    expect(traps.judge(at('/about?q=5'))).toBeDefined()
    expect(traps.judge(at('/search?q=1'))).toBeUndefined()
  })
})

test('a filter that changes nothing is known by pages that name all filters there are, their own among them', () => {
  const traps = createHostTraps(undefined)
  const choices = ['colour', 'size'].flatMap((key) => ['red', 'large', 'new'].map((value) => `${key} ${value}`))
  const list = (target: string, items: string): void => {
    const text = `${prose(items, 30)} ${choices.join(' ')} sort price sort name`
    traps.learn(at(target), contentSample(text, at(target), 'Goods'))
  }
  list('/goods', 'all')
  for (const key of ['colour=red', 'size=large']) list(`/goods?${key}`, key)
  list('/goods?sort=price', 'all')
  for (const key of ['colour=red', 'size=large']) list(`/goods?${key}&sort=price`, key)
  list('/goods?colour=new', 'new')
  expect(traps.judge(at('/goods?colour=new&sort=name'))).toBe(
    'the parameter sort makes no difference, and the page was found without it',
  )
})

describe('the end of a path', () => {
  test('that is a page of its own makes the folders in front idle', () => {
    const traps = createHostTraps(undefined)
    for (const page of ['/guide/a', '/guide/b', '/guide/c', '/guide/d']) learn(traps, page)
    for (const page of ['/guide/a', '/guide/b', '/guide/c']) learn(traps, `/news${page}`, page)
    expect(traps.judge(at('/news/guide/d'))).toBe('it was found with other folders in front, which make no difference')
    expect(traps.judge(at('/news/today'))).toBeUndefined()
  })

  test('proves nothing where pages of several languages have it in common', () => {
    const traps = createHostTraps(undefined)
    for (const name of ['a', 'b', 'c', 'd', 'e']) learn(traps, `/en/guide/${name}`)
    for (const name of ['a', 'b', 'c']) learn(traps, `/de/guide/${name}`, `/en/guide/${name}`)
    expect(traps.judge(at('/de/guide/d'))).toBeUndefined()
    expect(traps.judge(at('/fr/guide/e'))).toBeUndefined()
  })
})

describe('a folder before the end of a path', () => {
  const names = ['anvil', 'basket', 'candle', 'dagger', 'easel']
  const guide = (): HostTraps => {
    const traps = createHostTraps(undefined)
    for (const name of names) learn(traps, `/guide/${name}`)
    return traps
  }
  const leading = (traps: HostTraps, target: string, name: string, ...links: string[]): boolean =>
    traps.learn(at(target), saying(name, at(target)), undefined, links.map(at))
  /** Three pages behind a folder, each of which leads to the next behind that folder again. */
  const led = (): HostTraps => {
    const traps = guide()
    for (const [index, name] of names.slice(0, 3).entries())
      leading(traps, `/guide/more/${name}`, `/guide/${name}`, '/', `/guide/more/more/${names[index + 1]}`)
    return traps
  }

  test('makes no difference once three pages said the same without it, and lead through more of them', () => {
    const traps = led()
    const reason = 'it was found without a folder before its end, which makes no difference'
    expect(traps.judge(at('/guide/more/dagger'))).toBe(reason)
    expect(traps.judge(at('/guide/anvil/basket/easel'))).toBe(reason)
    expect(traps.judge(at('/guide/more/unknown'))).toBeUndefined()
    expect(traps.judge(at('/other/more/dagger'))).toBeUndefined()
  })

  test('makes none where the pages are folders themselves', () => {
    const traps = createHostTraps(undefined)
    for (const name of names) learn(traps, `/guide/${name}/`)
    for (const [index, name] of names.slice(0, 3).entries()) {
      const astray = `/guide/${names[index + 1]}/${name}/`
      leading(traps, astray, `/guide/${name}/`, `${astray}easel/`)
    }
    expect(traps.judge(at('/guide/dagger/easel/'))).toBeDefined()
  })

  test('makes one where a page says something else behind it', () => {
    const traps = led()
    leading(traps, '/guide/more/dagger', 'another dagger', '/guide/more/more/easel')
    expect(traps.judge(at('/guide/more/easel'))).toBeUndefined()
  })

  test.each([
    ['which leads to others of it', '/guide/v2/easel'],
    ['which leads to the page of the other version', '/guide/easel'],
    ['which leads to folders in it', '/guide/v2/install/linux'],
    ['which leads nowhere', '/'],
  ])('may be a version, of which some pages have not changed: %s', (_where, link) => {
    const traps = guide()
    for (const name of names.slice(0, 4)) leading(traps, `/guide/v2/${name}`, `/guide/${name}`, link)
    expect(traps.judge(at('/guide/v2/easel'))).toBeUndefined()
  })

  test('holds a URL back while its page is under way under the shorter address', () => {
    const traps = led()
    const underWay = createUnderWay()
    const admits = traps.batch(underWay)
    expect(admits(at('/guide/fork'))).toBe(true)
    expect(traps.judge(at('/guide/more/fork'))).toBeUndefined()
    expect(admits(at('/guide/more/fork'))).toBe(false)
    learn(traps, '/guide/fork')
    expect(traps.judge(at('/guide/more/fork'))).toBeDefined()
  })
})

describe('a template', () => {
  test('is learned from three copies', () => {
    const traps = createHostTraps(undefined)
    for (const number of [1, 2, 3]) learn(traps, `/stream/${number}`, 'stream')
    expect(traps.judge(at('/stream/5'))).toBeUndefined()
    learn(traps, '/stream/4', 'stream')
    expect(traps.judge(at('/stream/5'))).toBe('the last 3 pages of /stream/# said the same as others')
    expect(traps.judge(at('/stream/about'))).toBeUndefined()
  })

  test('with a date is learned from two', () => {
    const traps = createHostTraps(undefined)
    for (const month of [1, 2]) learn(traps, `/calendar/2027/${month}`, 'calendar')
    expect(traps.judge(at('/calendar/2027/5'))).toBeUndefined()
    learn(traps, '/calendar/2027/3', 'calendar')
    expect(traps.judge(at('/calendar/2027/5'))).toBe('the last 2 pages of /calendar/#/# said the same as others')
    expect(traps.judge(at('/calendar/about'))).toBeUndefined()
  })

  test('is known by what its copies said when the page is long forgotten that said it first', () => {
    const traps = createHostTraps(undefined)
    for (let number = 1; number <= 5; number++) learn(traps, `/stream/${number}`, 'stream')
    for (let number = 0; number < 2_000; number++)
      learn(traps, `/articles/${prose(`${number}`, 3).replaceAll(' ', '-')}`)
    expect(learn(traps, '/stream/6', 'stream')).toBe(false)
    expect(traps.judge(at('/stream/7'))).toBeDefined()
  })

  test('with many new pages asks for more proof', () => {
    const traps = createHostTraps(undefined)
    for (let number = 0; number < 100; number++) learn(traps, `/item/${number}`)
    for (let number = 100; number < 108; number++) learn(traps, `/item/${number}`, 'sold out')
    expect(traps.judge(at('/item/200'))).toBeUndefined()
    for (let number = 108; number < 114; number++) learn(traps, `/item/${number}`, 'sold out')
    expect(traps.judge(at('/item/200'))).toBeDefined()
  })

  test('is not learned from pages that say next to nothing', () => {
    const traps = createHostTraps(undefined)
    for (let number = 0; number < 100; number++) {
      traps.learn(at(`/p/${number}`), contentSample('Words. on on', at(`/p/${number}`), ''))
    }
    expect(traps.judge(at('/p/100'))).toBeUndefined()
  })
})

describe('written down and read again', () => {
  const targets = fc.array(
    fc.record({
      target: fc.oneof(
        fc.integer({ min: 0, max: 40 }).map((n) => `/calendar/20${n}/${n % 12}`),
        fc.integer({ min: 0, max: 40 }).map((n) => `/shop?a=${n % 3}&b=${n % 5}&c=${n}`),
        fc.integer({ min: 0, max: 40 }).map((n) => `/x/${token(`${n}`)}/y${n % 4}`),
        fc.array(fc.constantFrom('a', 'b', 'c', '7'), { maxLength: 9 }).map((names) => `/${names.join('/')}`),
        fc.webPath(),
      ),
      content: fc.integer({ min: 0, max: 12 }),
    }),
    { maxLength: 60 },
  )

  test('it judges every URL as before', () => {
    fc.assert(
      fc.property(targets, targets, (past, future) => {
        const traps = createHostTraps(undefined)
        for (const { target, content } of past) learn(traps, target, `${content}`)
        const copy = createHostTraps(traps.serialise())
        expect(copy.serialise()).toBe(traps.serialise())
        for (const { target, content } of future) {
          expect(copy.judge(at(target))).toBe(traps.judge(at(target)))
          expect(copy.mayProbe(at(target))).toBe(traps.mayProbe(at(target)))
          expect(learn(copy, target, `${content}`)).toBe(learn(traps, target, `${content}`))
        }
      }),
      { numRuns: 60 },
    )
  })

  test('it stays small, whatever the URLs are', () => {
    const traps = createHostTraps(undefined)
    for (let n = 0; n < 6_000; n++) {
      const target = `/${token(`d${n % 500}`)}/${prose(`${n}`, 4).replaceAll(' ', '/')}/${n}?a=${n}&b${n % 90}=${n}&c=${token(`${n}`)}`
      learn(traps, target, `${n % 4_000}`)
    }
    expect(traps.serialise().length).toBeLessThanOrEqual(16 * 1024)
  })

  test('it asks to be written rarely when much is known already', () => {
    const traps = createHostTraps(undefined)
    let written = 0
    for (let n = 0; n < 2_000; n++) {
      learn(traps, `/${prose(`${n}`, 2).replace(' ', '/')}-${n}`)
      if (!traps.changed) continue
      traps.serialise()
      expect(traps.changed).toBe(false)
      written += 1
    }
    expect(written).toBeGreaterThan(20)
    expect(written).toBeLessThan(150)
  })

  describe('of a host of many pages', () => {
    const pages = Array.from({ length: 4_000 }, (_, n) => `/${prose(`${n}`, 2).replace(' ', '/')}-${n}`)
    const roomsOf = (count: number): Rooms => createRooms(count, { mostOfHost: 256, areShared: false })
    const roomsLeft = (rooms: Rooms): number => {
      let left = 0
      while (rooms.take(1)) left += 1
      rooms.giveBack(left)
      return left
    }
    const large = (rooms: Rooms): HostTraps => {
      const traps = createHostTraps(undefined, { rooms })
      for (const target of pages) learn(traps, target)
      return traps
    }

    test('there is more, which it takes from what all hosts share and gives back', () => {
      const rooms = roomsOf(100)
      const traps = large(rooms)
      expect(roomsLeft(rooms)).toBe(100 - 16)
      const text = traps.serialise()
      expect(text.length).toBeGreaterThan(16 * 1024)
      traps.leave()
      expect(roomsLeft(rooms)).toBe(100)
      const again = createHostTraps(text, { rooms })
      expect(roomsLeft(rooms)).toBe(100 - 16)
      expect(again.serialise()).toBe(text)
      expect(createHostTraps(text.slice(0, -40), { rooms }).isSaved).toBe(true)
      expect(roomsLeft(rooms)).toBe(100 - 16)
    })

    test('there is no more than of others where nothing is left', () => {
      expect(large(roomsOf(0)).serialise().length).toBeLessThanOrEqual(16 * 1024)
      const text = large(roomsOf(100)).serialise()
      const small = createHostTraps(text)
      expect(small.serialise().length).toBeLessThanOrEqual(16 * 1024)
      learn(small, '/one/more')
      expect(createHostTraps(small.serialise()).serialise()).toBe(small.serialise())
    })
  })

  test('any other text is as good as none', () => {
    const empty = createHostTraps(undefined).serialise()
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String({ maxLength: 400 })), (text) => {
        const traps = createHostTraps(text)
        learn(traps, '/a')
        expect(traps.serialise().length).toBeLessThanOrEqual(16 * 1024)
      }),
    )
    const traps = createHostTraps(undefined)
    for (let n = 0; n < 50; n++) learn(traps, `/calendar/2027/${n}`, 'calendar')
    expect(createHostTraps(traps.serialise().slice(0, 400)).serialise()).toBe(empty)
  })
})

describe('probes', () => {
  const places = ['a', 'b', 'c', 'd']
  const withLessons = (good: number): HostTraps => {
    const traps = createHostTraps(undefined)
    for (const place of places) {
      for (let n = 0; n < good; n++) learn(traps, `/${place}/${100 + n}`)
      for (let n = 0; n < 10; n++) learn(traps, `/${place}/${n}`, place)
    }
    return traps
  }
  const probed = (traps: HostTraps): string[] =>
    places.flatMap((place) => [16, 17, 18].map((n) => `/${place}/${n}`)).filter((target) => traps.mayProbe(at(target)))

  test('are one on a small host, until it finds something new', () => {
    const traps = withLessons(0)
    expect(probed(traps)).toEqual(['/a/16'])
    learn(traps, '/a/16', 'a')
    expect(probed(traps)).toEqual([])
    const lucky = withLessons(0)
    expect(probed(lucky)).toEqual(['/a/16'])
    for (const n of [16, 20, 21, 22, 23, 24, 25]) learn(lucky, `/a/${n}`)
    expect(probed(lucky)).toEqual(['/b/16'])
  })

  test('are more as it has more pages, one for each lesson', () => {
    const traps = withLessons(0)
    for (let n = 0; n < 200; n++) learn(traps, `/articles/${prose(`${n}`, 3).replaceAll(' ', '-')}`)
    expect(probed(traps)).toEqual(['/a/16', '/b/16'])
  })

  test('are one for each lesson about what had new pages, too', () => {
    expect(probed(withLessons(4))).toEqual(['/a/16', '/b/16', '/c/16', '/d/16'])
  })
})

describe('of URLs that are handed out together', () => {
  const admitted = (traps: HostTraps, targets: readonly string[]): number => {
    const admits = traps.batch(createUnderWay())
    return targets.filter((target) => admits(at(target))).length
  }
  const days = Array.from({ length: 30 }, (_, day) => `/calendar/2027/3/${day}`)

  test('all are admitted while nothing was read', () => {
    expect(admitted(createHostTraps(undefined), days)).toBe(30)
  })

  test('few are of a kind that is new, more of one that proved good, and of one that copies itself what it takes to tell', () => {
    const traps = createHostTraps(undefined)
    learn(traps, '/')
    expect(admitted(traps, days)).toBe(2)
    for (let day = 100; day < 110; day++) learn(traps, `/calendar/2027/3/${day}`)
    expect(admitted(traps, days)).toBe(7)
    for (const [copies, more] of [4, 3, 2, 1].entries()) {
      learn(traps, `/calendar/2027/3/${120 + copies}`, '/calendar/2027/3/100')
      expect(admitted(traps, days)).toBe(more)
    }
    learn(traps, '/calendar/2027/3/130', '/calendar/2027/3/100')
    expect(traps.judge(at('/calendar/2027/3/1'))).toBeDefined()
  })

  test('what may go is shared out over as many batches as there are to be, and none is left without while any may', () => {
    const traps = createHostTraps(undefined)
    for (let day = 100; day < 120; day++) learn(traps, `/calendar/2027/3/${day}`)
    const underWay = createUnderWay()
    const left = days.map(at)
    const shares = [4, 3, 2, 1].map((batches) => {
      const admits = traps.batch(underWay, batches)
      let taken = 0
      for (; left[0] !== undefined && admits(left[0]); taken++) left.shift()
      return taken
    })
    expect(shares).toEqual([3, 3, 3, 3])
    expect(traps.batch(underWay)(left[0] as NormalizedUrl)).toBe(false)
  })

  test('one is the same as a known page but for a part that may make no difference', () => {
    const traps = createHostTraps(undefined)
    const pages = Array.from({ length: 40 }, (_, n) => `/articles/${prose(`p${n}`, 2).replace(' ', '-')}`)
    for (const page of pages) learn(traps, page)
    expect(
      admitted(
        traps,
        pages.slice(0, 10).map((page) => `${page}?s=1`),
      ),
    ).toBe(1)
  })
})

describe('samples', () => {
  const names = (count: number, seed = 'n'): string[] =>
    Array.from({ length: count }, (_, n) => `/words/${prose(`${seed}${n}`, 3).replaceAll(' ', '-')}`)
  const wanted = (traps: HostTraps, targets: readonly string[]): number =>
    targets.filter((target) => traps.wantsSample(at(target))).length
  /** A host of so many pages that all say something else. */
  const known = (pages: number): HostTraps => {
    const traps = createHostTraps(undefined)
    for (const name of names(pages)) {
      if (traps.wantsSample(at(name))) learn(traps, name)
      else traps.pass(at(name))
    }
    return traps
  }

  test('are taken of all pages at first, then of a share of those under plain names', () => {
    const others = names(400, 'other ')
    expect(wanted(known(1_000), others)).toBe(400)
    const [half, eighth] = [wanted(known(1_100), others), wanted(known(5_000), others)]
    expect(half).toBeGreaterThan(150)
    expect(half).toBeLessThan(250)
    expect(eighth).toBeGreaterThan(25)
    expect(eighth).toBeLessThan(75)
  })

  test('are taken of all pages with a part or a date, in a new place, of a row, and where something is in doubt', () => {
    const traps = known(5_000)
    const of = (make: (name: string, n: number) => string): string[] => names(40, 'x').map(make)
    expect(
      wanted(
        traps,
        of((name, n) => `${name}?p=${n}`),
      ),
    ).toBe(40)
    expect(
      wanted(
        traps,
        of((_, n) => `/words/2026/11/${1 + (n % 28)}`),
      ),
    ).toBe(40)
    expect(
      wanted(
        traps,
        of((name) => `/elsewhere${name}`),
      ),
    ).toBe(40)
    learn(traps, '/words/page-7')
    expect(
      wanted(
        traps,
        of((_, n) => `/words/page-${n + 10}`),
      ),
    ).toBe(40)
    for (const copy of names(2, 'copy ')) learn(traps, copy, 'the same')
    expect(wanted(traps, names(40, 'y'))).toBe(40)
  })

  test('are taken of all probes: a page that is aside is fetched for what it says', () => {
    const traps = known(5_000)
    const long = Array.from({ length: 16 }, (_, n) => `/words/${prose(`long ${n}`, 400).replaceAll(' ', '-')}`)
    for (const target of long) expect(traps.judge(at(target))).toContain('characters long')
    expect(wanted(traps, long)).toBe(16)
  })

  test('are not needed to know a page by its address', () => {
    const traps = known(5_000)
    const page = names(8, 'late ').find((name) => !traps.wantsSample(at(name))) as string
    traps.pass(at(page))
    for (const other of names(3, 'session ')) {
      for (const id of ['one', 'two']) learn(traps, `${other}?sid=${token(id + other)}`, other)
    }
    expect(traps.judge(at(`${page}?sid=${token('three')}`))).toContain('makes no difference')
  })
})

test('what is kept of URLs under way changes nothing of what is learned, be it shared with another host', () => {
  const target = fc.tuple(
    fc.constantFrom('a', 'b', 'a/b', 'b/a', 'c/d/e/f'),
    fc.integer({ min: 0, max: 9 }),
    fc.boolean(),
  )
  const step = fc.record({
    verb: fc.constantFrom('judge', 'batch', 'learn', 'probe'),
    target,
    says: fc.integer({ min: 0, max: 3 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const addresses = createAddresses()
      const [kept, shared, plain] = [
        createHostTraps(undefined, { addresses }),
        createHostTraps(undefined, { addresses }),
        createHostTraps(undefined),
      ]
      const take = (
        traps: HostTraps,
        { verb, target: [path, number, isQuery], says }: (typeof steps)[number],
      ): unknown => {
        const url = at(isQuery ? `/${path}?page=${number}` : `/${path}/${number}`)
        if (verb === 'judge') return traps.judge(url)
        if (verb === 'batch') return traps.batch(createUnderWay())(url)
        return verb === 'probe' ? traps.mayProbe(url) : traps.learn(url, saying(`says ${says}`, url))
      }
      for (const each of steps) {
        const answer = take(plain, each)
        expect([take(kept, each), take(shared, each)]).toEqual([answer, answer])
      }
      const learned = plain.serialise()
      expect([kept.serialise(), shared.serialise()]).toEqual([learned, learned])
    }),
  )
})
