import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { contentHash, placeOf, plainText, readContent } from './index.ts'

const PAGE = 'https://docs.example.org/guide/page.html'
const markdownOf = (html: string, title: string | null = null, url = PAGE): string =>
  readContent(html, { url, title }).markdown
const WORDS = 'Tortoises walk slowly and arrive, which is more than can be said of most hares in fables. '.repeat(4)

describe('the main content', () => {
  test('main is taken, and navigation, banners, sidebars and footers are left out', () => {
    const markdown = markdownOf(`<!doctype html><html><head><title>T</title><style>p{}</style></head><body>
      <a class="skip-link" href="#m">Skip to content</a><header><a href="/">Site</a></header><nav><a href="/a">Nav</a></nav>
      <div class="cookie-banner">We use cookies</div>
      <main id="m"><div class="breadcrumbs">Home / Guide</div><h1>Title<a class="headerlink" href="#t">¶</a></h1>
      <p>${WORDS}</p><aside>Related</aside><a href="https://github.com/x">Edit this page</a></main>
      <footer>Copyright</footer><script>alert(1)</script><noscript>Enable scripts</noscript></body></html>`)
    expect(markdown).toBe(`# Title\n\n${WORDS.trim()}\n`)
  })

  test('one dominant article inside main is narrowed to', () => {
    const markdown = markdownOf(`<main><p>Filed under x</p><article><h1>A</h1><p>${WORDS}</p></article></main>`)
    expect(markdown).toBe(`# A\n\n${WORDS.trim()}\n`)
  })

  test('several articles are all kept', () => {
    const markdown = markdownOf(`<main>${`<article><h2>A</h2><p>${WORDS}</p></article>`.repeat(3)}</main>`)
    expect(markdown.match(/^## A$/gm)).toHaveLength(3)
  })

  test('a page without landmarks keeps its body without header and navigation', () => {
    const markdown = markdownOf(`<header>Logo</header><div class="navheader">Prev</div><h1>X</h1><p>${WORDS}</p>`)
    expect(markdown).toBe(`# X\n\n${WORDS.trim()}\n`)
  })

  test('an empty main does not lose the page', () => {
    expect(markdownOf(`<main></main><div><p>${WORDS}</p></div>`)).toContain('Tortoises')
  })

  test('a page that is nothing but navigation keeps it', () => {
    expect(markdownOf(`<nav><ul>${'<li><a href="/a">A chapter of the book</a></li>'.repeat(20)}</ul></nav>`)).toContain(
      '[A chapter of the book](https://docs.example.org/a)',
    )
  })

  test('a short page with a long menu stays short', () => {
    const menu = `<nav>${'<a href="/a">Another chapter</a>'.repeat(100)}</nav>`
    const html = `${menu}<main><h1>Gone</h1><p>This page has moved to another place.</p></main>`
    expect(markdownOf(html)).toBe('# Gone\n\nThis page has moved to another place.\n')
  })

  test("a heading above the content is the page's if it is in its title", () => {
    const html = `<h1>On Tortoises</h1><div class="entry-content"><p>${WORDS}</p></div><div>${'x '.repeat(50)}</div>`
    expect(markdownOf(html, 'On Tortoises | Blog')).toMatch(/^# On Tortoises\n\nTortoises/)
    expect(markdownOf(html, 'Something else')).toMatch(/^Tortoises/)
  })

  test('a section about cookies is no cookie banner', () => {
    expect(markdownOf(`<main><section id="cookies"><h1>Cookies</h1><p>${WORDS}</p></section></main>`)).toContain(
      '# Cookies',
    )
  })

  test.each([400, 401, 5000, 5001])('a page of %i pieces appears once and whole', (pieces) => {
    const html = `<main>${Array.from({ length: pieces }, (_, n) => `n${n} <button></button>`).join('')}</main>`
    const numbers = [...markdownOf(html).matchAll(/n(\d+)/g)].map((match) => Number(match[1]))
    expect(numbers).toEqual(Array.from({ length: pieces }, (_, n) => n))
  })
})

describe('Markdown', () => {
  test('code blocks have their language, whoever highlighted them', () => {
    const languages = (html: string): string[] =>
      [...markdownOf(html).matchAll(/^```(\S*)\na$/gm)].map((m) => m[1] ?? '')
    expect(
      languages(
        '<div class="highlight-python3 notranslate"><div class="highlight"><pre><span></span>a\n</pre></div></div>',
      ),
    ).toEqual(['python'])
    expect(languages('<pre><code class="language-js">a</code></pre>')).toEqual(['js'])
    expect(languages('<pre class="prettyprint lang-config">a</pre>')).toEqual(['config'])
    expect(languages('<div class="highlight highlight-source-rust"><pre>a</pre></div>')).toEqual(['rust'])
    expect(languages('<pre class="sourceCode haskell"><code>a</code></pre>')).toEqual(['haskell'])
    expect(languages('<div class="highlight-default"><pre>a</pre></div><pre>a</pre>')).toEqual(['', ''])
  })

  test('code keeps its lines and loses its markup and line numbers', () => {
    expect(
      markdownOf(
        '<pre><code><span class="lineno">1</span><b>if</b> a &lt; b:<br>    <a href="x">go</a>()\n\n\n\n`x`</code></pre>',
      ),
    ).toBe('```\nif a < b:\n    go()\n\n\n\n`x`\n```\n')
  })

  test('tables of data are tables, tables for layout are not', () => {
    expect(markdownOf('<table><tr><th>A<th>B<tr><td><p>1</p><p>2</p><td>3</table>')).toBe(
      '| A | B |\n| --- | --- |\n| 1<br>2 | 3 |\n',
    )
    expect(markdownOf('<table><tr><td><h2>Head</h2><p>Text</p></td></tr></table>')).toBe('## Head\n\nText\n')
  })

  test('lists nest, definitions become items, notes become quotations', () => {
    expect(markdownOf('<ul><li>a<ul><li>b</ul><li>c</ul>')).toBe('- a\n  - b\n- c\n')
    expect(markdownOf('<dl><dt>Term<dd>Meaning</dl>')).toBe('- **Term**\n\n  Meaning\n')
    expect(markdownOf('<div class="admonition note"><p class="admonition-title">Note</p><p>Mind.</p></div>')).toBe(
      '> **Note**\n>\n> Mind.\n',
    )
  })

  test('signatures of functions are code', () => {
    expect(
      markdownOf(
        '<dl><dt class="sig sig-object py"><span>os.</span><span>open</span>(<em>path</em>)<a class="headerlink" href="#x">¶</a></dt><dd><p>Opens.</p></dd></dl>',
      ),
    ).toBe('- `os.open(path)`\n\n  Opens.\n')
  })

  test('emphasis never starts or ends with a space, and survives blocks inside it', () => {
    expect(markdownOf('<p>a<b> b </b>c</p>')).toBe('a **b** c\n')
    expect(markdownOf('<b><p>a</p><p>b</p></b>')).toBe('**a**\n\n**b**\n')
  })

  test('a link around a card links its heading; a heading is no link to itself', () => {
    expect(markdownOf('<a href="/x"><h3>Card</h3><p>Text</p></a>')).toBe(
      '### [Card](https://docs.example.org/x)\n\nText\n',
    )
    expect(markdownOf('<h2><a href="#s">Self</a></h2>')).toBe('## Self\n')
    expect(markdownOf('<h2>Marked <a href="#m">#</a></h2><p><a href="#e">…</a></p>')).toBe(
      `## Marked\n\n[…](${PAGE}#e)\n`,
    )
    expect(markdownOf('<p>x <a href="/empty"></a>y</p>')).toBe('x y\n')
  })

  test('control characters go, newline and tab stay', () => {
    expect(markdownOf('<p>a\u0000\u0007\u009bb&#7;c</p><pre>\tx</pre>')).toBe('abc\n\n```\n\tx\n```\n')
  })
})

describe('links', () => {
  const linkOf = (href: string, head = ''): string | undefined =>
    /\]\(<?([^>)]*)>?\)/.exec(markdownOf(`${head}<p><a href="${href}">words</a></p>`))?.[1]

  test('they are resolved against the page, or its base', () => {
    expect(linkOf('other.html#a.b')).toBe('https://docs.example.org/guide/other.html#a.b')
    expect(linkOf('x', '<base href="/b/">')).toBe('https://docs.example.org/b/x')
    expect(linkOf('?a=1&amp;b=2')).toBe('https://docs.example.org/guide/page.html?a=1&b=2')
    expect(markdownOf('<p><img src="i.png" alt="An image"></p>')).toBe(
      '![An image](https://docs.example.org/guide/i.png)\n',
    )
  })

  test('a link that would run code or carry data is words alone', () => {
    expect(linkOf('javascript:alert(1)')).toBeUndefined()
    expect(linkOf('data:text/html,x')).toBeUndefined()
    expect(markdownOf('<p>x<img src="data:image/png;base64,AAAA"></p>')).toBe('x\n')
  })

  test('joining without parsing gives what the parser gives', () => {
    const part = fc.constantFrom('a', 'B1', '..', '.', '/', '../', '#', 'x.html', '-_', '//', '?q', ':', 'é', '%41')
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
        const href = parts.join('')
        const expected = URL.parse(href, PAGE)
        const allowed = expected !== null && /^https?:$/.test(expected.protocol)
        expect(linkOf(href)).toBe(allowed ? expected.href : undefined)
      }),
    )
  })
})

describe('hostile pages', () => {
  const MEGABYTE = 1_000_000
  test.each([
    ['a million open elements', '<div>'.repeat(MEGABYTE)],
    ['a million marks', '<b><i>'.repeat(MEGABYTE / 2)],
    ['ten megabytes of <', '<'.repeat(10 * MEGABYTE)],
    ['nothing ever closed', '<p>a<b>b<table><tr><td>c<ul><li>d'.repeat(50_000)],
    ['an end tag that looks back in vain', `<i><div>${'<b>'.repeat(200_000)}${'</i>'.repeat(200_000)}`],
    ['links that close each other', '<a href="#x">'.repeat(200_000)],
    ['deep lists with many items', '<ul>'.repeat(300) + '<li>x'.repeat(200_000)],
    ['comments without end', '<!--'.repeat(MEGABYTE)],
    ['attributes without end', '<a href="'.repeat(300_000)],
    ['a wide table', `<table><tr>${'<td>x'.repeat(400_000)}`],
    [
      'cells across all rows',
      `<table><tr>${'<td rowspan=65534 colspan=1000>x'.repeat(3000)}${'<tr><td>y'.repeat(100_000)}`,
    ],
    ['code with many lines in deep lists', `${'<ol start=999999999><li>x'.repeat(12)}<pre>${'\n\ny'.repeat(MEGABYTE)}`],
    ['a paragraph of links', `<p>${'<a href=x>y</a> '.repeat(200_000)}`],
    ['a million links', '<a href=#x>y</a>'.repeat(MEGABYTE)],
    [
      'blocks of links in blocks',
      `<h1>a</h1>${'<div>'.repeat(150)}${'<a href=#x>y</a>'.repeat(100_000)}</div><h2>b</h2>${'c '.repeat(500)}`,
    ],
    ['bold letters side by side', `<p>${'<b>x</b>'.repeat(200_000)}`],
    ['code side by side', `<p>${'<code>x</code>'.repeat(200_000)}`],
    ['lines of code in blocks', `<pre>${'<div>x</div>'.repeat(200_000)}`],
    ['breaks without end', `<p>x${'<br>'.repeat(300_000)}y`],
    ['spaces without end', `<p>x${' \u00a0'.repeat(5 * MEGABYTE)}y</p>`],
    ['references without end', `<p>${'&amp'.repeat(MEGABYTE)}`],
    ['ten megabytes of attributes', `<p class="${'a '.repeat(5 * MEGABYTE)}">x</p>`],
    ['a line of signs', `<p>${'*_`[]<~|\\!&'.repeat(300_000)}</p>`],
  ])('%s are read to an end, with bounded output', (_, html) => {
    expect(markdownOf(html).length).toBeLessThanOrEqual(8 * 1024 * 1024 + 1)
  })

  test('what a limit cuts off is told by its name', () => {
    const limitsOf = (html: string): readonly string[] => readContent(html, { url: PAGE, title: null }).limits
    expect(limitsOf('<p>x</p>')).toEqual([])
    expect(limitsOf(`${'<div>'.repeat(201)}x`)).toEqual(['nesting'])
    expect(limitsOf('<br>'.repeat(1_000_001))).toEqual(['tags'])
    expect(limitsOf(`<pre>${'x\n'.repeat(5 * MEGABYTE)}`)).toEqual(['markdown-size'])
    expect(limitsOf(`<p>${'x '.repeat(5 * MEGABYTE)}`)).toEqual(['markdown-size'])
  })

  test('signs, indentation and addresses make no more of a page than a few times its length', () => {
    const deep = '<blockquote>'.repeat(12)
    const base = `<base href="https://a.test/${'long/'.repeat(500)}">`
    for (const html of [
      `${deep}${'<p>x'.repeat(20_000)}`,
      `${deep}${'x<br>'.repeat(50_000)}`,
      `${base}${'<a href=x>y</a> '.repeat(10_000)}`,
      `<b><i><del><sup>${base}<table><tr><th>x<tr>${'<td>x<td><a href=x>y</a>'.repeat(10_000)}`,
    ]) {
      const { markdown, limits } = readContent(html, { url: PAGE, title: null })
      expect(limits).toContain('markdown-size')
      expect(markdown.length).toBeLessThanOrEqual(4 * html.length + 256 * 1024)
    }
  })

  test('any soup of tags is read, alike each time, without control characters', () => {
    const piece = fc.constantFrom(
      ...'<p>|</p>|<div>|</div>|<b>|</b>|<a href="x">|</a>|<table>|<tr>|<td>|</table>|<pre>|</pre>|<ul>|<li>|</ul>|<dl>|<dt>|<dd>|<h1>|</h1>|<main>|</main>|<nav>|</nav>|<!--|-->|<script>|</script>|<svg>|<br>|<|>|"|x|日本| |\n|&amp;|`|\u0001|<code>|</code>|<summary>|<blockquote>|</li>|<h2>|</h2>|<hr>|<img src="i" alt="a">|<ol>|<td colspan="3" rowspan="2">|!|*|_|[|](|&lt;|<q>|<aside class="footnote">|<span class="label">|</span>'.split(
        '|',
      ),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const html = pieces.join('')
        const markdown = markdownOf(html)
        expect(markdownOf(html)).toBe(markdown)
        // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
        expect(markdown).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/)
      }),
      { numRuns: 500 },
    )
  })
})

describe('what is said of a page', () => {
  test('the text has the words without the signs of Markdown', () => {
    const { text } = readContent(
      `<main><h2>Use <code>a_b</code></h2><ol><li>one <b>bold</b> <del>gone</del></li></ol><blockquote>said</blockquote>
      <pre><code class="language-js">x * y</code></pre><p>1 &lt; 2 | <img src="/i.png" alt="pic"></p>
      <table><tr><th>k</th><th>v</th></tr><tr><td>a</td><td><a href="/x">b</a></td></tr></table></main>`,
      { url: PAGE, title: null },
    )
    expect(text.trim().split(/\s+/)).toEqual('Use a_b one bold gone said x y 1 < 2 pic k v a b'.split(' '))
  })

  test('the hash names the Markdown, and text has no signs or targets', () => {
    const content = readContent('<main><h1>A</h1><p>See <a href="/b"><b>this</b></a>.</p></main>', {
      url: PAGE,
      title: null,
    })
    expect(content.contentHash).toBe(contentHash(content.markdown))
    expect(content.text.replace(/\s+/g, ' ')).toBe('A See this .')
    expect(content.tokens).toBeGreaterThan(0)
    expect(content.simhash).not.toBeNull()
  })

  test.each([
    ['[one](https://host.test/a/2) two', '\vone\f\f two'],
    ['[one](https://host.test/a/1/2) two', '\vone\f\f\f two'],
    ['[one](https://other.test/) two', '\vone\f two'],
    ['[<one>](<https://host.test/a/2>)', '\v<one>\f\f'],
    ['![one](https://host.test/i.png)', '\v\vone\f'],
    ['[![one](https://host.test/i.png)](https://host.test/)', '\v\v\vone\f\f'],
    ['[a [1] b](https://host.test/)', '\va  1  b\f'],
    ['\\[one](https://host.test/)', '[one'],
    ['one](https://host.test/)', 'one'],
  ])('in the text of %s what is linked stands between marks', (markdown, text) => {
    expect(plainText(markdown, placeOf('https://host.test/a/1'))).toBe(text)
  })

  test('an empty page has empty Markdown and no fingerprint', () => {
    expect(readContent('', { url: PAGE, title: null })).toEqual({
      markdown: '',
      text: '',
      tokens: 0,
      contentHash: 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      simhash: null,
      near: null,
      headings: [],
      limits: [],
    })
  })

  test('strings and bytes with the same UTF-8 have the same hash', () => {
    expect(contentHash('é')).toBe(contentHash(new TextEncoder().encode('é')))
  })
})
