/** What the Markdown of a page looks like, sign by sign. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readContent } from '../index.ts'

const PAGE = 'https://docs.example.org/guide/page.html'
const contentOf = (html: string) => readContent(`<main>${html}</main>`, { url: PAGE, title: null })
const markdownOf = (html: string): string => contentOf(html).markdown

test('links are relative to the page that they stand on, whatever page was read before', () => {
  const pageUrl = fc
    .tuple(
      fc.constantFrom('https://a.test', 'https://a.test:8443', 'http://a.test', 'https://b.test', 'https://a.tes'),
      fc.array(fc.constantFrom('x', 'y.html', 'a..b', '..c', 'é', '%7e', '', 'x_y-z'), { maxLength: 3 }),
      fc.constantFrom('', '/', '?q=/z/', '#part', '.'),
    )
    .map(([origin, segments, end]) => `${origin}/${segments.join('/')}${end}`)
  const reference = fc.constantFrom('z', '../z', '/z', '#z', '?z', './z', '//c.test/z', 'z w', '../../z.html#w')
  fc.assert(
    fc.property(fc.array(fc.tuple(pageUrl, reference), { minLength: 2, maxLength: 6 }), (pages) => {
      for (const [url, href] of pages) {
        const { markdown } = readContent(`<main><p>words <a href="${href}">more words</a></main>`, { url, title: null })
        expect(markdown).toBe(`words [more words](${new URL(href, url).href})\n`)
      }
    }),
  )
})

describe('words', () => {
  test('no space is put before a link, code or emphasis', () => {
    expect(
      markdownOf('<p>java.lang.<a href="/o">Object</a>&lt;<a href="/e">E</a>&gt;, “<code>x</code>”, a.<b>b</b></p>'),
    ).toBe('java.lang.[Object](https://docs.example.org/o)<[E](https://docs.example.org/e)>, “`x`”, a.**b**\n')
  })

  test('spaces that do not break are spaces, and signs that do not show are gone', () => {
    expect(markdownOf('<p><b>Date:&nbsp;</b>2022&#160;&nbsp;x&shy;y&#8203;z</p>')).toBe('**Date:** 2022 xyz\n')
  })

  test('references are decoded by the full table, and numbers of Windows-1252 as browsers do', () => {
    expect(markdownOf('<p>&notin; &hellip; &#146; &#x1F422; &copy 2020 &nosuch; AT&T</p>')).toBe(
      '∉ … ’ 🐢 © 2020 &nosuch; AT&T\n',
    )
  })

  test('what Markdown would take for a sign has a backslash, and nothing else', () => {
    expect(markdownOf('<p>snake_case a * b [x] 1 < 2 x|y ~1</p>')).toBe('snake_case a * b [x] 1 < 2 x|y ~1\n')
    expect(markdownOf('<p>*a* _b_ `c` [d](e) &lt;f> ~~g~~ &amp;lt; \\*</p>')).toBe(
      '\\*a\\* \\_b\\_ \\`c\\` [d\\](e) \\<f> \\~\\~g\\~\\~ \\&lt; \\\\\\*\n',
    )
    expect(markdownOf('<p># a</p><p>- b</p><p>1. c</p><p>> d</p><p>---</p><p>[e]: f</p>')).toBe(
      '\\# a\n\n\\- b\n\n1\\. c\n\n\\> d\n\n\\---\n\n\\[e]: f\n',
    )
    expect(markdownOf('<p>wow!<a href="/x">y</a> [a]<b></b>(b) &lt;<i></i>c></p>')).toBe(
      'wow\\![y](https://docs.example.org/x) [a]\\(b) \\<c>\n',
    )
  })

  test('a sign alone at the beginning of a text has its backslash too', () => {
    expect(markdownOf('<p>*args</p><p>`x</p>')).toBe('\\*args\n\n\\`x\n')
    expect(markdownOf('<table><tr><th>A<th>B<tr><td>| a<td><b>* b</b></table>')).toBe(
      '| A | B |\n| --- | --- |\n| \\| a | **\\* b** |\n',
    )
  })

  test('signs beside punctuation of any script, and single tildes, mark nothing', () => {
    expect(markdownOf('<p>‘_’s and ‘_’, a~b~c, ~5</p>')).toBe('‘\\_’s and ‘\\_’, a\\~b\\~c, ~5\n')
  })

  test('a row of dashes in a paragraph makes no table, and hashes behind a heading belong to it', () => {
    expect(markdownOf('<p>a | b<br>--- | ---</p><h2>C #</h2>')).toBe('a | b  \n\\--- | ---\n\n## C \\#\n')
  })

  test('where the signs of emphasis would not hold, there is a tag, or code is mark enough', () => {
    expect(markdownOf('<p>これは<b>「重要」</b>です。<i>b</i>c <b>(x)</b>y&eacute;<b>(z)</b></p>')).toBe(
      'これは<strong>「重要」</strong>です。*b*c <strong>(x)</strong>yé<strong>(z)</strong>\n',
    )
    expect(markdownOf('<p>the <em><code>n</code></em>th Byte<em><code>n</code></em>, (<b>“a”</b>)</p>')).toBe(
      'the `n`th Byte`n`, (**“a”**)\n',
    )
    expect(contentOf('<p>a<b>(b)</b>c the &lt;em> tag</p>').text).toBe('a(b)c the <em> tag')
  })

  test('emphasis that ends where it begins again goes on, and is not written twice', () => {
    expect(markdownOf('<p><b>a</b><b>b</b> <b><strong>c</strong></b><i></i></p>')).toBe('**ab** **c**\n')
  })

  test('code is one run, with a fence longer than what is in it', () => {
    expect(markdownOf('<p><code>a</code><code>b</code> <code>c`d</code> <code> e\n f </code></p>')).toBe(
      '`ab` `` c`d `` `e f`\n',
    )
    expect(markdownOf('<pre>```\nx</pre>')).toBe('````\n```\nx\n````\n')
    expect(markdownOf('<p><code><a href="/l">List</a>&lt;E></code></p>')).toBe(
      '[`List<E>`](https://docs.example.org/l)\n',
    )
  })

  test('each link in a list of code has its own words, and a link inside of brackets is not what code is about', () => {
    expect(markdownOf('<p><code><a href="/c">clone</a>, <a href="/e">equals</a></code></p>')).toBe(
      '[`clone`](https://docs.example.org/c), [`equals`](https://docs.example.org/e)\n',
    )
    expect(
      markdownOf(
        '<p><code>util.<a href="/l">List</a></code> <code><a href="/m">Map</a>&lt;<a href="/k">K</a>, V></code> <code>get(<a href="/s">String</a> x)</code></p>',
      ),
    ).toBe('[`util.List`](https://docs.example.org/l) [`Map<K, V>`](https://docs.example.org/m) `get(String x)`\n')
    expect(markdownOf('<dl><dt class="sig"><a href="/t">int</a> f(<a href="/u">char</a> c)</dt><dd>F.</dd></dl>')).toBe(
      '- `int f(char c)`\n\n  F.\n',
    )
  })

  test('formulas are their TeX, from whichever place it stands in', () => {
    expect(markdownOf('<p>Let <span class="math notranslate">\\(a_i &lt; b\\)</span>.</p>')).toBe('Let `a_i < b`.\n')
    expect(markdownOf('<div class="math">\\[x =\n \\frac{1}{2}\\]</div><p class="math">Maths</p>')).toBe(
      '`x = \\frac{1}{2}`\n\nMaths\n',
    )
    expect(
      markdownOf(
        '<p><span class="katex"><math><semantics><mi>x</mi><annotation encoding="application/x-tex">x_2</annotation></semantics></math><span aria-hidden="true">x2</span></span></p>',
      ),
    ).toBe('`x_2`\n')
  })

  test('a link whose words may be the name of a tool is left out only if it leads to one', () => {
    expect(
      markdownOf('<p><a href="sql-copy.html">COPY</a> <a href="edit.html">edit</a> <a href="top.html">top</a></p>'),
    ).toBe(
      '[COPY](https://docs.example.org/guide/sql-copy.html) [edit](https://docs.example.org/guide/edit.html) [top](https://docs.example.org/guide/top.html)\n',
    )
    expect(
      markdownOf(
        '<p>Nothing of this leads to a page. <a href="#">Top</a> <a href="/w?action=edit">edit</a> <a href="#">copy</a></p>',
      ),
    ).toBe('Nothing of this leads to a page.\n')
  })

  test('a link that says its own address is written short', () => {
    expect(
      markdownOf(
        '<p><a href="https://a.example/b_c">https://a.example/b_c</a> <a href="mailto:a@b.example">a@b.example</a></p>',
      ),
    ).toBe('<https://a.example/b_c> <a@b.example>\n')
  })

  test('one break ends a line, two begin a paragraph, and those at the end are nothing', () => {
    expect(markdownOf('<p>a<br>b<br><br>c<br></p>')).toBe('a  \nb\n\nc\n')
  })

  test('images that are ornaments, arrows or logos are left out, and emoji are characters', () => {
    expect(
      markdownOf(
        '<p>a <img src="/i" alt=""><img src="/l" alt="Site logo"><a href="/n"><img src="/n" alt="->"></a><img class="emoji" src="/e" alt="🐢"> <img src="/p" alt="A [p]"></p>',
      ),
    ).toBe('a 🐢 ![A \\[p\\]](https://docs.example.org/p)\n')
  })
})

describe('blocks', () => {
  test('blocks inside an item are set apart, and text behind a list is not part of it', () => {
    expect(markdownOf('<ul><li>a<div>b</div>c<ul><li>d</li></ul>e</li><li>f</li></ul>')).toBe(
      '- a\n\n  b\n\n  c\n\n  - d\n\n  e\n\n- f\n',
    )
  })

  test('an empty item, list, quotation, heading or row leaves nothing', () => {
    expect(markdownOf('<ul><li></li></ul><blockquote></blockquote><h2></h2><p>x</p><hr><ol></ol><hr>')).toBe('x\n')
  })

  test('numbers go on as the page has them, and a number but one does not follow a line', () => {
    expect(markdownOf('<ol start="7"><li>a<li>b</ol>')).toBe('7. a\n8. b\n')
    expect(markdownOf('<ul><li>x<ol start="3"><li>y</ol></ul>')).toBe('- x\n\n  3. y\n')
  })

  test('a line across the page stands between blocks, outside of lists', () => {
    expect(markdownOf('<hr><ul><li>a</ul><hr><hr><ul><li><hr>b</ul>')).toBe('- a\n\n---\n\n- b\n')
  })

  test('items that begin with headings are sections', () => {
    expect(
      markdownOf('<ul><li><section><h2>A</h2><div>one</div><div>two</div></section><li><h2>B</h2>three</ul>'),
    ).toBe('## A\n\none\n\ntwo\n\n## B\n\nthree\n')
    expect(markdownOf('<ul><li>Step<div class="note"><h3>Note</h3><p>Mind.</p></div></ul>')).toBe(
      '- Step\n\n  > **Note**\n  >\n  > Mind.\n',
    )
  })

  test('code keeps its empty lines in a list and in a quotation', () => {
    expect(markdownOf('<ul><li><pre>a\n\nb</pre></ul><blockquote><pre>c\n\nd</pre></blockquote>')).toBe(
      '- ```\n  a\n\n  b\n  ```\n\n> ```\n> c\n>\n> d\n> ```\n',
    )
  })

  test('a marked block inside of marked text ends its own mark alone', () => {
    expect(markdownOf('<i><dl><dt>t<dd>m</dl>z</i>')).toBe('- ***t***\n\n  *m*\n\n*z*\n')
    expect(markdownOf('<a href="/x"><summary>a</summary>b</a>c')).toBe('[**a**](https://docs.example.org/x)\n\nbc\n')
  })

  test('captions are set in italics, titles of listings in bold', () => {
    expect(
      markdownOf('<figure><img src="/i" alt="I"><figcaption>An image</figcaption></figure><p class="rubric">Notes</p>'),
    ).toBe('![I](https://docs.example.org/i)\n\n*An image*\n\n**Notes**\n')
  })
})

describe('tables', () => {
  test('cells across columns and rows leave empty ones, so that all stay in their columns', () => {
    expect(
      markdownOf(
        '<table><tr><th colspan="2">A</th><th>B</th></tr><tr><td rowspan="2">1</td><td>2</td><td>3</td></tr><tr><td>4</td><td>5</td></tr></table>',
      ),
    ).toBe('| A |  | B |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n|  | 4 | 5 |\n')
  })

  test('the head has as many cells as the longest row', () => {
    expect(markdownOf('<table><tr><th>A</th></tr><tr><td>1</td><td>2</td></tr></table>')).toBe(
      '| A |  |\n| --- | --- |\n| 1 | 2 |\n',
    )
  })

  test('a cell has one line, whatever is in it', () => {
    expect(markdownOf('<table><tr><th>A<tr><td><p>a|b</p><pre>x\ny|z</pre><ul><li>i<li>j</ul>k<br>l</table>')).toBe(
      '| A |\n| --- |\n| a\\|b<br>`x`<br>`y\\|z`<br>- i<br>- j<br>k<br>l |\n',
    )
  })

  test('the address of a link or image does not end its cell', () => {
    expect(markdownOf('<table><tr><th>A<tr><td><a href="/x|y">l</a> <img src="/p|q" alt="i"></table>')).toBe(
      '| A |\n| --- |\n| [l](https://docs.example.org/x\\|y) ![i](https://docs.example.org/p\\|q) |\n',
    )
  })

  test('a column alone is a list, and a row of a layout is a line', () => {
    expect(markdownOf('<table><tr><td>Ann</td></tr><tr><td>Bob</td></tr></table>')).toBe('- Ann\n- Bob\n')
    expect(markdownOf('<table><tr><td><h2>A</h2></td></tr><tr><td>#define</td><td>X</td></tr></table>')).toBe(
      '## A\n\n#define X\n',
    )
  })

  test('blocks with the roles of a table are one', () => {
    expect(
      markdownOf(
        '<div role="table"><div role="row"><div role="columnheader">A</div><div role="columnheader">B</div></div><div role="row"><div role="cell">1</div><div role="cell">2</div></div></div>',
      ),
    ).toBe('| A | B |\n| --- | --- |\n| 1 | 2 |\n')
  })

  test('a caption stands before its table', () => {
    expect(markdownOf('<table><caption>Sizes</caption><tr><th>A<tr><td>1</table>')).toBe(
      '*Sizes*\n\n| A |\n| --- |\n| 1 |\n',
    )
  })
})

describe('the outline', () => {
  test('headings are told in order, as plain words', () => {
    expect(
      contentOf(
        '<h1>The <code>os</code> <a href="/m">module</a><a class="headerlink" href="#t">¶</a></h1><h3>Sub_title * lookup(host[, <i>options</i>])</h3>',
      ).headings,
    ).toEqual([
      { level: 1, text: 'The os module' },
      { level: 3, text: 'Sub_title * lookup(host[, options])' },
    ])
  })

  test('it is bounded in number and length', () => {
    const { headings } = contentOf(`<h1>${'long '.repeat(200)}</h1>${'<h2>x</h2>'.repeat(600)}`)
    expect(headings).toHaveLength(500)
    expect(headings[0]?.text).toBe('long '.repeat(60).trim())
  })

  test('what stands above the content with its heading belongs to it', () => {
    const words = 'Commands have options, and options have meanings that are told here at some length. '.repeat(5)
    const html = `<div id="header"><h1>git-x(1) Manual Page</h1><h2>NAME</h2><p>git-x - does x</p></div><div id="content"><h2>OPTIONS</h2><p>${words}</p></div>`
    expect(readContent(html, { url: PAGE, title: 'git-x(1)' }).markdown).toBe(
      `# git-x(1) Manual Page\n\n## NAME\n\ngit-x - does x\n\n## OPTIONS\n\n${words.trim()}\n`,
    )
  })
})

describe('whatever the page says', () => {
  test('its words come out as plain text in their order', () => {
    const word = fc.constantFrom(
      'a',
      'b_c',
      '*',
      '_d_',
      '[e]',
      '(f)',
      '`g`',
      '1.',
      '#',
      '-',
      '>',
      '|',
      '~~',
      '!',
      'é',
      '日本',
      '&lt;i>',
      '\\',
    )
    const letters = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, '')
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 12 }), (words) => {
        const source = words.join(' ')
        expect(letters(contentOf(`<p>${source}</p>`).text)).toBe(letters(source.replaceAll('&lt;', '<')))
      }),
    )
  })
})
