/**
 * The hosts of the demo's web: a small town in which every house shows one thing that a crawler must get right.
 * Each has a handful of pages, so that a visit at the default pace takes about half a minute, and the slow houses take
 * about as long as all the others together.
 */
import { renderDemoPage, type DemoPage } from './demo-page.ts'
import type { Answer, HostBehaviour } from './loopback-web.ts'
import { encodeShiftJis } from './shift-jis.ts'

export interface DemoHost {
  readonly host: string
  /** What a newcomer sees there, in one line. */
  readonly what: string
  readonly behaviour: HostBehaviour
}

export function demoHosts(): readonly DemoHost[] {
  return [
    { host: 'fast.demo.test', what: 'answers at once; paced at 1 s all the same', behaviour: bakery() },
    { host: 'slow.demo.test', what: 'takes 1.5 s for every answer, and holds up nobody else', behaviour: clockmaker() },
    { host: 'patient.demo.test', what: 'asks for Crawl-delay: 2, and gets it', behaviour: teaHouse() },
    { host: 'private.demo.test', what: 'robots.txt forbids /private/, so it stays unseen', behaviour: manor() },
    {
      host: 'failing.demo.test',
      what: 'answers some pages with 404 or 500; one works at the second try',
      behaviour: mill(),
    },
    {
      host: 'closed.demo.test',
      what: 'robots.txt answers 500, so nothing else may be asked',
      behaviour: lockedHouse(),
    },
    { host: 'dead.demo.test', what: 'breaks every connection', behaviour: () => ({ destroy: true }) },
    { host: 'moved.demo.test', what: 'redirects: once, twice, out of scope and to nowhere', behaviour: postOffice() },
    {
      host: 'sitemap.demo.test',
      what: 'links to nothing; its pages are known from its sitemap',
      behaviour: lighthouse(),
    },
    { host: 'docs.demo.test', what: 'documentation with code and tables, for the Markdown', behaviour: workshop() },
    { host: 'nihon.demo.test', what: 'Japanese in Shift_JIS, as only a meta element says', behaviour: poet() },
    {
      host: 'echo.demo.test',
      what: 'near-identical pages, and a calendar that goes on for months',
      behaviour: school(),
    },
  ]
}

const html = (page: DemoPage): Answer => ({ body: renderDemoPage(page) })

/** Pages from their titles and texts; the first is `/` and links to all of the others. */
function pages(texts: readonly (readonly [path: string, title: string, text: string])[]): Record<string, Answer> {
  const answers: Record<string, Answer> = {}
  for (const [index, [path, title, text]] of texts.entries()) {
    const others = texts.filter(([other]) => other !== path).map(([other, name]) => [other, name] as const)
    const links = index === 0 ? Object.fromEntries(others) : { '/': texts[0]?.[1] ?? 'Home' }
    answers[path] = html({ title, description: text.split('. ')[0] ?? text, main: `<p>${text}</p>`, links })
  }
  return answers
}

function slowed(answers: Readonly<Record<string, Answer>>, delayMs: number): HostBehaviour {
  return ({ path }) => ({ ...(answers[path] ?? { status: 404 }), delayMs })
}

function bakery(): HostBehaviour {
  return pages([
    [
      '/',
      'The quick bakery',
      'Bread is ready before the bell above the door has stopped. Please come in one at a time.',
    ],
    ['/rye', 'Rye', 'Dark, sour and patient. It was mixed yesterday, so that it can be quick today.'],
    ['/baguette', 'Baguette', 'Best within four hours. Nobody has ever tested the fifth.'],
    ['/brioche', 'Brioche', 'Half flour, half butter, half eggs. The baker does not hold with arithmetic.'],
    ['/pretzel', 'Pretzel', 'A knot that somebody meant to untie, and then it was noon.'],
    ['/focaccia', 'Focaccia', 'Dimples are pressed in with the fingertips. One for every customer expected.'],
    ['/crumpets', 'Crumpets', 'The holes are the point. The butter agrees.'],
    ['/knackebrot', 'Crispbread', 'Keeps for a year, and can be heard two houses away.'],
    ['/flatbread', 'Flatbread', 'Nothing rises, nobody worries.'],
    ['/crumbs', 'Crumbs', 'For the sparrows, who also wait a second between two visits.'],
  ])
}

function clockmaker(): HostBehaviour {
  const answers = pages([
    ['/', 'The thoughtful clockmaker', 'Every question is considered for a second and a half. The answer is worth it.'],
    ['/pendulum', 'Pendulum', 'It only ever does one thing, and does it twice a second.'],
    ['/escapement', 'Escapement', 'A small fork that says not yet, not yet, not yet, now.'],
    ['/mainspring', 'Mainspring', 'All of tomorrow, wound up in a drum the size of a plum.'],
    ['/cuckoo', 'Cuckoo', 'Comes out when it is due, and not before. A model for all visitors.'],
    ['/sundial', 'Sundial', 'Never needs repair. Cannot be hurried. Closed at night.'],
    ['/hourglass', 'Hourglass', 'Turn it over to start again where you stopped.'],
    ['/alarm', 'Alarm', 'This one is only a drawing. The clockmaker likes it quiet.'],
  ])
  return slowed(answers, 1500)
}

function teaHouse(): HostBehaviour {
  return {
    '/robots.txt': { body: 'User-agent: *\nCrawl-delay: 2\n' },
    ...pages([
      ['/', 'The patient tea house', 'Two seconds between two cups, please. The sign at the door says so as well.'],
      ['/sencha', 'Sencha', 'Seventy degrees, one minute. The second cup is the better one.'],
      ['/oolong', 'Oolong', 'The leaves unroll like letters from a friend who writes small.'],
      ['/assam', 'Assam', 'Strong enough to hold the spoon upright until the milk arrives.'],
      ['/chamomile', 'Chamomile', 'For visitors who have been asked to slow down and take it personally.'],
      ['/matcha', 'Matcha', 'Whisked, never stirred, and never while somebody is talking.'],
      ['/kettle', 'The kettle', 'A watched kettle boils exactly when it would have boiled.'],
      ['/cups', 'The cups', 'No two alike. The chipped one belongs to the cat.'],
    ]),
  }
}

function manor(): HostBehaviour {
  return {
    '/robots.txt': { body: 'User-agent: *\nDisallow: /private/\nAllow: /private/garden-gate\n' },
    ...pages([
      ['/', 'The manor', 'The park is open. What lies behind the hedge is the family’s own affair.'],
      ['/park', 'The park', 'Four hundred limes in two rows, and one that walked out of line in a storm.'],
      ['/lake', 'The lake', 'The swans decide who may come near.'],
      ['/private/garden-gate', 'The garden gate', 'The one private thing that may be looked at: it is shut.'],
      ['/private/diary', 'A diary', 'If you can read this, somebody has not read robots.txt.'],
      ['/private/safe', 'The safe', 'It holds a spare key to the safe.'],
    ]),
  }
}

function mill(): HostBehaviour {
  const answers = pages([
    ['/', 'The old mill', 'Parts of it turn and parts of it do not. Mind the third step.'],
    ['/wheel', 'The wheel', 'Turns, when the brook is in the mood.'],
    ['/stones', 'The stones', 'Two of them, and they have not spoken since the harvest of the long rain.'],
    [
      '/hopper',
      'The hopper',
      'Jams at the first try and runs at the second. Nobody knows why, everybody knocks twice.',
    ],
    ['/sluice', 'The sluice', ''],
    ['/attic', 'The attic', ''],
    ['/third-step', 'The third step', ''],
  ])
  return ({ path, n }) => {
    if (path === '/sluice') return { status: 500, body: 'The sluice is stuck.\n' }
    if (path === '/hopper' && n === 1) return { status: 500, body: 'Jammed. Knock again.\n' }
    if (path === '/third-step') return { status: 410, body: 'We did say.\n' }
    return path === '/attic' ? { status: 404 } : (answers[path] ?? { status: 404 })
  }
}

function lockedHouse(): HostBehaviour {
  return {
    '/robots.txt': { status: 500, body: 'The sign at the door has fallen down.\n' },
    ...pages([
      ['/', 'The house without a sign', 'Who cannot read the rules stays outside.'],
      ['/inside', 'Inside', 'Nobody has been here.'],
    ]),
  }
}

function postOffice(): HostBehaviour {
  const links = {
    '/old-counter': 'The old counter',
    '/forwarded': 'Forwarded twice',
    '/abroad': 'Letters abroad',
    '/round': 'Return to sender',
    '/undeliverable': 'Undeliverable',
  }
  const moved = (status: number, location: string): Answer => ({ status, headers: { location } })
  return ({ path, url }) => {
    switch (path) {
      case '/':
        return moved(302, '/hall')
      case '/hall':
        return html({ title: 'The post office', main: '<p>We have moved. So has everything in it.</p>', links })
      case '/old-counter':
        return moved(301, '/counter')
      case '/forwarded':
        return moved(302, '/forwarding-desk')
      case '/forwarding-desk':
        return moved(307, '/counter')
      case '/counter':
        return html({ title: 'The counter', main: '<p>Here, at last. Please take a number: it is the same one.</p>' })
      case '/abroad':
        return moved(302, url('fast.demo.test', '/rye'))
      case '/round':
        return moved(302, '/round')
      case '/undeliverable':
        return { status: 302, body: 'Moved, and left no address.\n' }
      default:
        return { status: 404 }
    }
  }
}

function lighthouse(): HostBehaviour {
  const rooms = ['lamp', 'lens', 'stairs', 'log-book', 'fog-horn']
  const texts: Record<string, string> = {
    lamp: 'Seen from nineteen miles. From there, the keeper sees nothing of you.',
    lens: 'Polished every morning, with vinegar and a song.',
    stairs: 'Two hundred and seven going up, two hundred and six coming down.',
    'log-book': 'Wind south-west. One ship. Wind south-west. The same ship.',
    'fog-horn': 'Once a minute, never twice. A very polite horn.',
  }
  return ({ path, host, url }) => {
    if (path === '/robots.txt') return { body: `User-agent: *\nAllow: /\nSitemap: ${url(host, '/sitemap.xml')}\n` }
    if (path === '/sitemap.xml') {
      const entries = rooms.map((room) => `<url><loc>${url(host, `/${room}`)}</loc><lastmod>2026-05-01</lastmod></url>`)
      const body = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
        ...entries,
        '</urlset>',
        '',
      ]
      return { body: body.join('\n') }
    }
    if (path === '/')
      return html({ title: 'The lighthouse', main: '<p>No path leads to the rooms. There is a map.</p>' })
    const text = texts[path.slice(1)]
    return text === undefined ? { status: 404 } : html({ title: `The ${path.slice(1)}`, main: `<p>${text}</p>` })
  }
}

function workshop(): HostBehaviour {
  const links = {
    '/': 'Kettle 2.0',
    '/guide/install': 'Installing',
    '/guide/first-cup': 'A first cup',
    '/guide/pace': 'Pace',
    '/reference/options': 'Options',
    '/reference/errors': 'Errors',
  }
  const page = (title: string, description: string, main: string): Answer => html({ title, description, main, links })
  return {
    '/': page(
      'Kettle 2.0',
      'A small library that boils water politely.',
      '<p>Kettle boils water, and does nothing else. It is <strong>quiet</strong>, small and has no dependencies.</p>\n' +
        '<ol><li><a href="/guide/install">Install it</a></li><li><a href="/guide/first-cup">Make a cup</a></li></ol>',
    ),
    '/guide/install': page(
      'Installing',
      'One line.',
      '<p>Kettle runs wherever there is a socket.</p>\n<pre><code class="language-sh">npm install kettle\n</code></pre>\n' +
        '<blockquote><p>Fill it with water before the first use.</p></blockquote>',
    ),
    '/guide/first-cup': page(
      'A first cup',
      'From cold water to tea in six lines.',
      '<p>Ask for a temperature, and wait for it:</p>\n<pre><code class="language-ts">import { createKettle } from ' +
        "'kettle'\n\nconst kettle = createKettle({ litres: 1 })\nfor await (const degrees of kettle.heat(70)) {\n" +
        '  if (degrees &gt;= 70) await kettle.pour()\n}\n</code></pre>\n' +
        '<p>The loop ends by itself. Breaking out of it turns the kettle off.</p>',
    ),
    '/guide/pace': page(
      'Pace',
      'Why the kettle waits.',
      '<p>The pause counts from the moment the cup is <em>full</em>, not from the moment it was asked for.</p>\n' +
        '<table><thead><tr><th>Tea</th><th align="right">Degrees</th><th align="right">Minutes</th></tr></thead>\n' +
        '<tbody><tr><td>Sencha</td><td align="right">70</td><td align="right">1</td></tr>\n' +
        '<tr><td>Oolong</td><td align="right">90</td><td align="right">3</td></tr>\n' +
        '<tr><td>Assam</td><td align="right">100</td><td align="right">4</td></tr></tbody></table>',
    ),
    '/reference/options': page(
      'Options',
      'Every option, with its unit and default.',
      '<table><thead><tr><th>Option</th><th>Unit</th><th>Default</th></tr></thead>\n' +
        '<tbody><tr><td><code>litres</code></td><td>l</td><td><code>1</code></td></tr>\n' +
        '<tr><td><code>whistle</code></td><td></td><td><code>false</code></td></tr>\n' +
        '<tr><td><code>pauseMs</code></td><td>ms</td><td><code>1000</code></td></tr></tbody></table>\n' +
        '<h2>whistle</h2><p>Off by default, out of respect for the neighbours.</p>',
    ),
    '/reference/errors': page(
      'Errors',
      'What can go wrong, and what to do.',
      '<h2>EMPTY</h2><p>There is no water in it. Add some.</p>\n<h2>TEAPOT</h2><p>This is a teapot (status 418). ' +
        'See <a href="/guide/first-cup">a first cup</a>.</p>',
    ),
  }
}

function poet(): HostBehaviour {
  const poems: readonly (readonly [path: string, title: string, text: string])[] = [
    ['/', '静かな訪問者', 'このサイトはシフトJISで書かれています。ゆっくりお読みください。'],
    ['/pond', '古池', '古池や蛙飛びこむ水の音（松尾芭蕉）'],
    ['/snail', 'かたつむり', 'かたつむりそろそろ登れ富士の山（小林一茶）'],
    ['/spring', '春の海', '春の海終日のたりのたりかな（与謝蕪村）'],
    ['/cat', '猫の足音', '猫は足音を立てずに歩きます。よい訪問者も同じです。'],
  ]
  const answers: Record<string, Answer> = {}
  for (const [path, title, text] of poems) {
    const others = poems.filter(([other]) => other !== path).map(([other, name]) => [other, name] as const)
    const links = path === '/' ? Object.fromEntries(others) : { '/': '目次' }
    const page = renderDemoPage({ title, lang: 'ja', charset: 'Shift_JIS', main: `<p>${text}</p>`, links })
    answers[path] = { headers: { 'content-type': 'text/html' }, body: encodeShiftJis(page) }
  }
  return answers
}

const MONTHS = ['2026-01', '2026-02', '2026-03', '2026-04'] as const

/** The pages of lines differ in their number alone; each month knows only the next. */
function school(): HostBehaviour {
  const lines =
    '<p>I shall not ask the same host twice within one second. I shall read the sign at the door before I enter. ' +
    'I shall say who I am and where I can be found. When I am told to come back later, I shall come back later, and ' +
    'not sooner. When a house is shut, I shall not rattle at the windows. What I have seen before, I shall not carry ' +
    'home a second time. I shall close the gate behind me, and leave the gravel as I found it.</p>'
  const copies = [1, 2, 3]
  const answers: Record<string, Answer> = {
    '/': html({
      title: 'The village school',
      main: '<p>Today: handwriting. Everyone writes the same lines.</p>',
      links: { '/lines/1': 'Lines', '/lines/2': 'Lines', '/lines/3': 'Lines', [`/calendar/${MONTHS[0]}`]: 'Calendar' },
    }),
  }
  for (const copy of copies) answers[`/lines/${copy}`] = html({ title: 'Lines', main: `${lines}\n<p>Copy ${copy}</p>` })
  for (const [index, month] of MONTHS.entries()) {
    const next = MONTHS[index + 1]
    answers[`/calendar/${month}`] = html({
      title: `Calendar for ${month}`,
      main: `<p>Nothing happens in ${month}. ${next === undefined ? 'Then come the holidays.' : 'Perhaps next month.'}</p>`,
      links: next === undefined ? { '/': 'School' } : { [`/calendar/${next}`]: 'Next month' },
    })
  }
  return answers
}
