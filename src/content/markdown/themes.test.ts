/** Pages as well-known themes, tools and consent dialogues mark them up, cut down to what matters. */
import { describe, expect, test } from 'vitest'
import { readContent } from '../index.ts'

const PAGE = 'https://docs.example.org/guide/page.html'
const WORDS =
  'Tortoises walk slowly and arrive, which is more than can be said of most hares in fables. They carry their house, ' +
  'they need no nest, and they have been seen to outlive the people who laughed at them.'
const markdownOf = (html: string, title: string | null = null): string =>
  readContent(html, { url: PAGE, title }).markdown
const article = `# Tortoises\n\n${WORDS}\n`

describe('banners, menus and footers', () => {
  test.each([
    [
      'OneTrust',
      '<div id="onetrust-consent-sdk"><div id="onetrust-banner-sdk"><p>We value your privacy</p></div></div>',
    ],
    [
      'Cookiebot',
      '<div id="CybotCookiebotDialog" role="dialog"><h2>This website uses cookies</h2><p>Allow all</p></div>',
    ],
    ['Osano', '<div class="cc-window cookieconsent-banner" role="dialog"><span>This site uses cookies.</span></div>'],
    ['a notice of its own', '<div class="cookie-notice"><p>We use cookies</p><button>OK</button></div>'],
  ])('the consent dialogue of %s is left out', (_, dialogue) => {
    expect(markdownOf(`<body>${dialogue}<main><h1>Tortoises</h1><p>${WORDS}</p></main></body>`)).toBe(article)
    expect(markdownOf(`<body><h1>Tortoises</h1><p>${WORDS}</p>${dialogue}</body>`)).toBe(article)
  })

  test('a blog article keeps its heading and byline, and loses sidebar, sharing and related posts', () => {
    expect(
      markdownOf(
        `<body><header class="site-header"><a href="/">Blog</a></header><div class="content-area">
        <article><header class="entry-header"><h1>Tortoises</h1><p>By A. Esop</p></header>
        <div class="entry-content"><p>${WORDS}</p></div><div class="share-buttons"><a href="/s">Share</a></div>
        <section class="related-posts"><h3>More</h3><a href="/m">Hares</a></section></article>
        <aside class="sidebar"><h2>Archive</h2><a href="/2020">2020</a></aside></div>
        <footer>© Blog</footer></body>`,
        'Tortoises | Blog',
      ),
    ).toBe(`# Tortoises\n\nBy A. Esop\n\n${WORDS}\n`)
  })

  test('a menu above the content of a page without landmarks is left out, whatever it is called', () => {
    const menu = '<li><a href="/a">About</a></li><li><a href="/d">Documents</a></li><li><a href="/c">Contact</a></li>'
    expect(markdownOf(`<div class="x1"><ul>${menu}</ul></div><h1>Tortoises</h1><p>${WORDS}</p>`)).toBe(article)
    expect(
      markdownOf(`<table><tr><td><img src="/l.png" alt="L"><td><a href="/a">Home</a><td><a href="/b">People</a><td>
      <a href="/c">More</a></table><h1>Tortoises</h1><p>${WORDS}</p>`),
    ).toBe(article)
  })

  test('a list of links below a heading, or on a page without one, is content', () => {
    const links = '<ul><li><a href="/a">One</a><li><a href="/b">Two</a><li><a href="/c">Three</a></ul>'
    expect(markdownOf(`<h1>Index</h1>${links}<h2>More</h2><p>${WORDS}</p>`)).toContain('- [Two]')
    expect(markdownOf(`<p>${WORDS}</p>${links}`)).toContain('- [Two]')
  })

  test("the page's own table of contents is left out, and a list of other pages is not", () => {
    const contents = (prefix: string): string =>
      `<ul><li><a href="${prefix}#a">First</a></li><li><a href="${prefix}#b">Second</a></li><li><a href="${prefix}#c">Third</a></li></ul>`
    const page = (list: string): string =>
      `<main><h1>Tortoises</h1><p>On this page</p>${list}<h2>First</h2><p>${WORDS}</p></main>`
    expect(markdownOf(page(contents('')))).not.toContain('Second')
    expect(markdownOf(page(contents('page.html')))).not.toContain('Second')
    expect(markdownOf(page(contents('other.html')))).toContain(
      '- [Second](https://docs.example.org/guide/other.html#b)',
    )
  })

  test('a title is not lost with the table of contents beside it', () => {
    const contents = '<a href="#a">Amalgamation</a><a href="#b">The command line</a><a href="#c">The rest of it</a>'
    expect(
      markdownOf(
        `<div><div class="t">How to keep a tortoise</div><div>${contents}</div></div><h2>a</h2><p>${WORDS}</p><h2>b</h2>`,
      ),
    ).toMatch(/^How to keep a tortoise\n\n## a\n/)
  })

  test('a page is not lost to its long table of contents', () => {
    const contents = Array.from({ length: 900 }, (_, n) => `<li><a href="#s${n}">Section ${n}</a></li>`).join('')
    const markdown = markdownOf(
      `<div class="x"><h1>Tortoises</h1><div class="toc"><ul>${contents}</ul></div><h2>First</h2><p>${WORDS}</p></div>`,
    )
    expect(markdown).toBe(`# Tortoises\n\n## First\n\n${WORDS}\n`)
  })

  test('a row of letters that lead about the page is left out', () => {
    const letters = 'ABCDEFG'
      .split('')
      .map((letter) => `<a href="#${letter}">&nbsp;${letter}&nbsp;</a>`)
      .join(' | ')
    expect(
      markdownOf(
        `<div id="page-content"><h1>Tortoises</h1><p class="letters">${letters}</p><h2>A</h2><p>${WORDS}</p></div>`,
      ),
    ).toBe(`# Tortoises\n\n## A\n\n${WORDS}\n`)
  })
})

describe('documentation tools', () => {
  test('a box beside the text with a title of its own is a note, as docutils has it', () => {
    expect(
      markdownOf(
        `<div role="main"><h1>Tortoises</h1><aside class="sidebar">\n<p class="sidebar-title">Tutorial</p>\n<p>This is the
        reference.</p></aside><p>${WORDS}</p><aside class="sidebar"><a href="/x">Elsewhere</a></aside></div>`,
      ),
    ).toBe(`# Tortoises\n\n> **Tutorial**\n>\n> This is the reference.\n\n${WORDS}\n`)
  })

  test('Docusaurus', () => {
    expect(
      markdownOf(
        `<nav class="navbar"><a href="/">Site</a></nav><main class="docMainContainer"><div class="row"><div class="col"><div
        class="docItemContainer"><article><nav class="theme-doc-breadcrumbs" aria-label="Breadcrumbs"><ul><li>Guides</li></ul></nav>
        <div class="tocCollapsible theme-doc-toc-mobile"><button>On this page</button></div>
        <div class="theme-doc-markdown markdown"><header><h1>Tortoises</h1></header><p>${WORDS}</p>
        <h2 class="anchor" id="use">Use<a href="#use" class="hash-link" aria-label="Direct link to Use">\u200b</a></h2>
        <div class="language-bash codeBlockContainer"><div class="codeBlockContent"><pre class="prism-code language-bash"><code><span
        class="token-line">npm i<br></span><span class="token-line">npm t<br></span></code></pre><div class="buttonGroup"><button>Copy</button>
        </div></div></div><div class="theme-admonition theme-admonition-tip alert"><div class="admonitionHeading">tip</div><p>Walk.</p></div></div>
        <footer class="theme-doc-footer"><a href="/e" class="theme-edit-this-page">Edit this page</a></footer></article>
        <nav class="pagination-nav"><a href="/n">Next</a></nav></div></div><div class="col"><div class="tableOfContents"><ul><li>
        <a href="#use">Use</a></ul></div></div></div></main>`,
      ),
    ).toBe(`# Tortoises\n\n${WORDS}\n\n## Use\n\n\`\`\`bash\nnpm i\nnpm t\n\`\`\`\n\n> tip\n>\n> Walk.\n`)
  })

  test('Material for MkDocs', () => {
    expect(
      markdownOf(
        `<header class="md-header"><nav class="md-header__inner">Site</nav></header><div class="md-container"><main class="md-main"><div
        class="md-sidebar md-sidebar--primary"><a href="/x">Nav</a></div><div class="md-content"><article class="md-content__inner md-typeset">
        <a href="/edit" title="Edit this page" class="md-content__button md-icon"><svg></svg></a><h1 id="t">Tortoises<a class="headerlink"
        href="#t" title="Permanent link">&para;</a></h1><p>${WORDS}</p><div class="highlight"><table class="highlighttable"><tr><td
        class="linenos"><div class="linenodiv"><pre><span></span><span class="normal">1</span></pre></div></td><td class="code"><div><pre><span></span><code>a = 1
</code></pre></div></td></tr></table></div><details class="note" open><summary>Why</summary><p>Because.</p></details></article></div></main>
        <footer class="md-footer">Made with</footer></div>`,
      ),
    ).toBe(`# Tortoises\n\n${WORDS}\n\n\`\`\`\na = 1\n\`\`\`\n\n**Why**\n\nBecause.\n`)
  })

  test('Sphinx with the theme of Read the Docs', () => {
    expect(
      markdownOf(
        `<nav class="wy-nav-side">Menu</nav><section class="wy-nav-content-wrap"><div class="rst-content"><div role="navigation"
        aria-label="Page navigation"><ul class="wy-breadcrumbs"><li>Docs</li><li class="wy-breadcrumbs-aside"><a href="/s">View page source</a></li>
        </ul></div><div role="main" class="document"><div itemprop="articleBody"><section id="t"><h1>Tortoises<a class="headerlink" href="#t">¶</a></h1>
        <p>${WORDS}</p><dl class="field-list"><dt>Since</dt><dd><p>1.0</p></dd></dl><p class="rubric">Footnotes</p><aside class="footnote-list">
        <aside class="footnote brackets" id="f1" role="note"><span class="label"><span>[</span><a role="doc-backlink" href="#r1">1</a><span>]</span></span>
        <p>Slowly.</p></aside></aside></section></div></div><footer><div class="rst-footer-buttons"><a href="/n">Next</a></div></footer></div></section>`,
      ),
    ).toBe(`# Tortoises\n\n${WORDS}\n\n- **Since**\n\n  1.0\n\n**Footnotes**\n\n[1] Slowly.\n`)
  })

  test('Javadoc', () => {
    expect(
      markdownOf(
        `<header role="banner"><nav><ul><li>Overview</li></ul></nav></header><main role="main"><div class="header"><h1 class="title">Class T</h1></div>
        <div class="type-signature"><span class="modifiers">public class </span><span>T</span> <span>extends <a href="O.html">O</a></span></div>
        <div class="block">${WORDS}</div><section class="summary"><ul class="summary-list"><li><section><h2>Method Summary</h2>
        <div class="summary-table two-column-summary"><div class="table-header col-first">Method</div><div class="table-header col-last">Description</div>
        <div class="col-first even"><code><a href="#go()">go</a>()</code></div><div class="col-last even"><div class="block">Goes.</div></div>
        </div></section></li></ul></section><section class="details"><ul class="details-list"><li><section class="detail" id="go()"><h3>go</h3><div
        class="member-signature"><span>public</span>&nbsp;<span>void</span>&nbsp;<span>go</span>()</div><div class="block">Goes.</div></section></li></ul>
        </section></main>`,
      ),
    ).toBe(
      `# Class T\n\n\`public class T extends O\`\n\n${WORDS}\n\n## Method Summary\n\n| Method | Description |\n| --- | --- |\n` +
        `| [\`go()\`](<${PAGE}#go()>) | Goes. |\n\n### go\n\n\`public void go()\`\n\nGoes.\n`,
    )
  })

  test('Doxygen', () => {
    expect(
      markdownOf(
        `<div id="top"><div id="titlearea"><div id="projectname">T</div></div></div><div class="header"><div class="headertitle"><div class="title">
        Turtle</div></div></div><div class="contents"><p>${WORDS}</p><table class="memberdecls"><tr class="heading"><td colspan="2"><h2>Macros</h2></td></tr>
        <tr><td class="memItemLeft">#define&nbsp;</td><td class="memItemRight"><a href="#a">SLOW</a>&nbsp;&nbsp; 1</td></tr><tr class="separator"><td>&#160;</td></tr>
        </table></div><hr class="footer"/><address class="footer"><small>Generated by <a href="https://doxygen.org"><img src="d.png" alt="doxygen"/></a></small>
        </address>`,
      ),
    ).toBe(`Turtle\n\n${WORDS}\n\n## Macros\n\n#define [SLOW](${PAGE}#a) 1\n`)
  })

  test('mdBook, VitePress and rustdoc', () => {
    expect(
      markdownOf(
        `<nav id="sidebar" class="sidebar">Chapters</nav><div id="page-wrapper"><div class="page"><div id="menu-bar"><button>x</button><h1 class="menu-title">The Book</h1></div>
        <div id="content" class="content"><main><h1 id="t"><a class="header" href="#t">Tortoises</a></h1><p>${WORDS}</p><pre><code class="language-rust no_run">fn x() {}
</code></pre></main><nav class="nav-wrapper"><a href="/n">Next</a></nav></div></div></div>`,
      ),
    ).toBe(`${article}\n\`\`\`rust\nfn x() {}\n\`\`\`\n`)
    expect(
      markdownOf(
        `<main class="main"><div class="vp-doc"><div><h1 id="t" tabindex="-1">Tortoises <a class="header-anchor" href="#t" aria-label="Permalink">\u200b</a></h1>
        <p>${WORDS}</p><div class="language-ts vp-adaptive-theme line-numbers-mode"><button title="Copy Code" class="copy"></button><span class="lang">ts</span><pre
        class="shiki"><code><span class="line"><span>let a</span></span>\n<span class="line"><span>let b</span></span></code></pre><div class="line-numbers-wrapper"
        aria-hidden="true"><span class="line-number">1</span><br></div></div></div></div></main><footer class="VPDocFooter"><a href="/e">Edit this page</a></footer>`,
      ),
    ).toBe(`${article}\n\`\`\`ts\nlet a\nlet b\n\`\`\`\n`)
    expect(
      markdownOf(
        `<main><div class="main-heading"><h1>Function <a href="i.html">core</a>::<a href="#">x</a></h1><span><a class="srclink" href="/s">source</a> · <a id="t" href="javascript:void(0)">[−]</a></span></div>
        <pre class="rust item-decl"><code>pub fn x()</code></pre><details class="toggle" open><summary class="hideme"><span>Expand description</span></summary><p>${WORDS}</p></details></main>`,
      ),
    ).toBe(
      `# Function [core](https://docs.example.org/guide/i.html)::x\n\n\`\`\`rust\npub fn x()\n\`\`\`\n\n${WORDS}\n`,
    )
  })

  test('a README with emoji, task list, alert and heading anchors', () => {
    expect(
      markdownOf(
        `<div id="readme"><article class="markdown-body entry-content"><div class="markdown-heading"><h1>Tortoises <img class="emoji" alt="🐢" src="/t.png"></h1><a
        id="user-content-t" class="anchor" aria-label="Permalink: Tortoises" href="#t"><svg></svg></a></div><p>${WORDS}</p><div class="markdown-alert markdown-alert-note"><p
        class="markdown-alert-title"><svg></svg>Note</p><p>Slow.</p></div><div class="highlight highlight-source-shell notranslate"><pre>walk</pre><div class="zeroclipboard-container">
        <clipboard-copy aria-label="Copy"><svg></svg></clipboard-copy></div></div></article></div>`,
      ),
    ).toBe(`# Tortoises 🐢\n\n${WORDS}\n\n> **Note**\n>\n> Slow.\n\n\`\`\`shell\nwalk\n\`\`\`\n`)
  })
})

describe('other pages', () => {
  test('a forum thread keeps every post', () => {
    const post = (name: string): string =>
      `<div class="post"><div class="author"><a href="/u/${name}">${name}</a></div><div class="body"><p>${name} says: ${WORDS}</p></div></div>`
    const markdown = markdownOf(`<h1>How slow?</h1>${post('Ann')}${post('Bob')}${post('Cyd')}`)
    for (const name of ['Ann', 'Bob', 'Cyd']) expect(markdown).toContain(`${name} says: Tortoises`)
  })

  test('a product page keeps its price and its table', () => {
    expect(
      markdownOf(
        `<main><h1>Shell polish</h1><p class="price">9.50 €</p><p>${WORDS}</p><table><tr><th scope="row">Weight</th><td>200 g</td></tr><tr><th scope="row">Origin</th>
        <td>Samos</td></tr></table><form action="/cart"><select><option>1</option></select><button>Buy</button></form></main>`,
      ),
    ).toBe(`# Shell polish\n\n9.50 €\n\n${WORDS}\n\n| Weight | 200 g |\n| --- | --- |\n| Origin | Samos |\n`)
  })

  test('tables inside tables for layout leave their text in order', () => {
    expect(
      markdownOf(
        `<table><tr><td width="100"><table><tr><td><a href="/a">A</a></td></tr></table></td><td><h1>Tortoises</h1><p>${WORDS}</p><table><tr><th>x</th><th>y</th></tr>
        <tr><td>1</td><td>2</td></tr></table></td></tr></table>`,
      ),
    ).toContain(`# Tortoises\n\n${WORDS}\n\n| x | y |\n| --- | --- |\n| 1 | 2 |\n`)
  })

  test('Chinese, Japanese and Hebrew text has no spaces put in or taken out', () => {
    expect(markdownOf('<main><p>请看<a href="/x">文档</a>的<b>说明</b>。</p></main>')).toBe(
      '请看[文档](https://docs.example.org/x)的**说明**。\n',
    )
    expect(markdownOf('<main lang="ja"><p>カメは<code>遅い</code>です。</p></main>')).toBe('カメは`遅い`です。\n')
    expect(markdownOf('<main dir="rtl"><h1>צבים</h1><p>הצב <em>איטי</em>.</p></main>')).toBe('# צבים\n\nהצב *איטי*.\n')
  })
})
