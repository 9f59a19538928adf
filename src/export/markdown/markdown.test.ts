import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { countTokens } from '../../content/index.ts'
import { exportCrawl, MIN_PART_TOKENS } from '../index.ts'
import { makeCrawl, type MadePage } from '../test-support/hand-made-crawl.ts'
import { inlineSpans } from './inline.ts'
import { textOf } from './plain-text.ts'

let root: string
let count = 0
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'tiptoe-book-test-'))
})
afterAll(() => rmSync(root, { recursive: true }))

const clock = { now: () => 0 }
const site = 'https://example.com'
const place = (): string => join(root, String(++count))

async function book(pages: readonly MadePage[]): Promise<string> {
  const path = `${place()}.md`
  await exportCrawl(makeCrawl(place(), pages), { format: 'markdown', target: { path } }, { clock })
  return readFileSync(path, 'utf8')
}

async function parts(pages: readonly MadePage[], maxTokens: number): Promise<string[]> {
  const path = place()
  const request = { format: 'markdown', target: { path }, maxTokens } as const
  const { files } = await exportCrawl(makeCrawl(place(), pages), request, { clock })
  const names = readdirSync(path).filter((name) => name.endsWith('.md'))
  expect(names).toHaveLength(files)
  return names.toSorted().map((name) => readFileSync(join(path, name), 'utf8'))
}

/** Lines outside of code, and whether every fence is closed. */
function outsideOfCode(markdown: string): { lines: string[]; isClosed: boolean } {
  const lines: string[] = []
  let isOpen = false
  for (const line of markdown.split('\n')) {
    if (line.startsWith('```')) isOpen = !isOpen
    else if (!isOpen) lines.push(line)
  }
  return { lines, isClosed: !isOpen }
}

describe('one document', () => {
  it('has a table of contents, and its pages in the order of the site', async () => {
    const text = await book([
      { url: `${site}/docs/chapter10`, title: 'Ten', markdown: '# Ten\n\nten\n' },
      { url: `${site}/docs/chapter2`, title: 'Two', markdown: '# Two\n\ntwo\n' },
      { url: `${site}/docs-old`, title: 'Old', markdown: 'old\n' },
      { url: `${site}/docs/`, title: 'Docs', markdown: '# Docs\n\nall\n' },
      { url: `${site}/`, title: 'Home', markdown: 'home\n' },
    ])
    const contents = text.slice(0, text.indexOf('<a id='))
    expect(contents).toBe(
      `# example.com\n\n5 pages.\n\n## Contents\n\n- [Home](#p5)\n  - [Docs](#p4-docs)\n` +
        `    - [Two](#p2-docs-chapter2)\n    - [Ten](#p1-docs-chapter10)\n  - [Old](#p3-docs-old)\n\n`,
    )
    const headings = text.match(/^## .*$/gm)
    expect(headings).toEqual(['## Contents', '## Home', '## Docs', '## Two', '## Ten', '## Old'])
    expect(text).toContain(`<a id="p2-docs-chapter2"></a>\n\n## Two\n\nSource: <${site}/docs/chapter2>\n\ntwo\n`)
  })

  it('moves headings down, and leaves what is in code alone', async () => {
    const markdown = '# A\n\n## B\n\n```sh\n# no heading\n\n[x](https://example.com/b)\n```\n\n### C\n\n###### D\n'
    const text = await book([{ url: `${site}/a`, title: 'A — the site', markdown }])
    expect(text.slice(text.indexOf('Source'))).toBe(
      `Source: <${site}/a>\n\n### B\n\n\`\`\`sh\n# no heading\n\n[x](https://example.com/b)\n\`\`\`\n\n#### C\n\n###### D\n\n`,
    )
  })

  it('lists the pages of a folder below its own page, and only there', async () => {
    const text = await book(
      ['b/index.html', 'b/2', 'a.html', 'c/d/3', 'c/d/4', 'b/1', 'e', 'e/5', 'index.html'].map((path) => ({
        url: `${site}/${path}`,
        title: path,
        markdown: 'x\n',
      })),
    )
    expect(text.match(/^ *- \[.*?\]/gm)).toEqual([
      '- [index.html]',
      '  - [a.html]',
      '  - [b/index.html]',
      '    - [b/1]',
      '    - [b/2]',
      '  - [c/d/3]',
      '  - [c/d/4]',
      '  - [e]',
      '    - [e/5]',
    ])
  })

  it('leaves the name of the site out of the title of a page', async () => {
    const made = (path: string, title: string, heading: string): MadePage => ({
      url: `${site}/${path}`,
      title,
      headings: [{ level: 1, text: heading }],
      markdown: `# ${heading}\n\nText.\n`,
    })
    const text = await book([
      made('a', 'Lists — The Manual 1.0', 'Lists'),
      made('b', 'Manual: 15: 5.1. Tables', '5.1. Tables'),
      made('c', 'A - B - Site', 'A - B'),
      made('d', 'Something else', 'Heading'),
      { ...made('e', 'Manual: Small', 'Small'), markdown: '## Small\n\n### Smaller\n' },
    ])
    expect(text.match(/^##+ .*/gm)?.slice(1)).toEqual([
      '## Lists',
      '## 5.1. Tables',
      '## A - B',
      '## Something else',
      '### Heading',
      '## Small',
      '### Smaller',
    ])
  })

  it('keeps a first heading that is not the title', async () => {
    const text = await book([{ url: `${site}/a`, title: 'Site', markdown: '# Other\n\n## Below\n' }])
    expect(text).toContain('## Site\n')
    expect(text).toContain('### Other\n\n#### Below\n')
  })

  it('leads links between its pages to their chapters, also to the page that a duplicate repeats', async () => {
    const text = await book([
      {
        url: `${site}/a`,
        title: 'A',
        markdown: `[b](${site}/b#part) [c](<${site}/c_(d)>) [twin](${site}/twin) [out](https://other.test/) \`[b](${site}/b)\`\n`,
      },
      { url: `${site}/b`, title: 'B', markdown: 'b\n' },
      { url: `${site}/c_(d)`, title: 'C', markdown: 'c\n' },
      { url: `${site}/twin`, title: 'B', markdown: 'b\n', duplicateOf: `${site}/b`, duplicateBy: 'same' },
    ])
    expect(text).toContain(`[b](#p2-b) [c](#p3-c-d) [twin](#p2-b) [out](https://other.test/) \`[b](${site}/b)\`\n`)
    expect(text).not.toContain('twin"></a>')
  })

  it('cannot be broken by a title', async () => {
    const title = '](x)\n# <b>`*_ \u0000 '.repeat(20)
    const text = await book([{ url: `${site}/a`, title, markdown: 'a\n' }])
    expect(text.match(/^# .*/gm)).toEqual(['# example.com'])
    expect(text.match(/^- .*/gm)).toHaveLength(1)
    expect(text).not.toContain('<b>`')
  })

  it('names several sites', async () => {
    const text = await book([
      { url: 'https://b.test/', title: 'B', markdown: 'b\n' },
      { url: 'http://a.test:8080/x/y', title: 'A', markdown: 'a\n' },
    ])
    expect(text).toContain('# a.test:8080, b.test\n')
    expect(text).toContain('- a.test:8080\n  - [A](#p2-x-y)\n- b.test\n  - [B](#p1)\n')
  })

  it('is a document without pages', async () => {
    expect(await book([])).toBe('# No pages\n\n0 pages.\n\n## Contents\n\n\n')
  })
})

const word = fc.constantFrom('word', 'x', 'naïve', '日本語', '1234567', '==', 'camelCase', '  ', '🙂', '\t')
const line = fc.array(word, { minLength: 1, maxLength: 60 }).map((words) => words.join(' ').trim() || 'x')
const block = fc.oneof(
  { weight: 5, arbitrary: line },
  { weight: 2, arbitrary: fc.nat(3).map((level) => `${'#'.repeat(level + 1)} Heading`) },
  { weight: 2, arbitrary: fc.array(line, { maxLength: 40 }).map((lines) => `\`\`\`js\n${lines.join('\n\n')}\n\`\`\``) },
  { weight: 2, arbitrary: fc.nat(19).map((page) => `see [another page](${site}/page/${page})`) },
  { weight: 1, arbitrary: fc.constantFrom('x'.repeat(9000), '日'.repeat(5000), `${'a1'.repeat(3000)} b`) },
  { weight: 1, arbitrary: fc.constant(`\`\`\`\n${'1, 2, 3, 4\n'.repeat(2000)}\`\`\``) },
)
const page = fc.record({
  title: fc.constantFrom('Title', '日'.repeat(200), 'a1'.repeat(200), null),
  path: fc.constantFrom('', '/sub', `/${'a1'.repeat(1000)}`),
  markdown: fc.array(block, { minLength: 1, maxLength: 30 }).map((blocks) => `${blocks.join('\n\n')}\n`),
})

describe('a document divided by tokens', () => {
  it('never has a file over the limit, nor one whose code is left open, and loses no text', async () => {
    const pages = fc.array(page, { minLength: 1, maxLength: 20 })
    const limit = fc.constantFrom(MIN_PART_TOKENS, 3_000, 20_000)
    const plain = (text: string): string => text.replaceAll(/```(?:js)?|#+ |\]\([^)]*\)|\s+/g, '')
    await fc.assert(
      fc.asyncProperty(pages, limit, async (drawn, maxTokens) => {
        const made = drawn.map(({ title, path, markdown }, index) => ({
          url: `${site}/page/${index}${path}`,
          title,
          markdown,
        }))
        const files = await parts(made, maxTokens)
        for (const file of files) {
          expect(countTokens(file)).toBeLessThanOrEqual(maxTokens)
          expect(outsideOfCode(file).isClosed).toBe(true)
        }
        const whole = plain(files.join('\n').replaceAll(/^## .*\n\nSource: .*\n/gm, ''))
        for (const { markdown } of made) {
          for (const text of markdown.split('\n')) {
            // A line that had to be cut is there in pieces, with a heading between.
            if (countTokens(text) < 1_000) expect(whole).toContain(plain(text))
          }
        }
      }),
      { numRuns: 25 },
    )
  })

  it('keeps a page whole where one file can hold it, and each file lists what it has', async () => {
    const body = (name: string): string => `# ${name}\n\n${`${name} says this. `.repeat(300)}\n`
    const made = ['one', 'two', 'three'].map((name) => ({ url: `${site}/${name}`, title: name, markdown: body(name) }))
    const files = await parts(made, 2_000)
    expect(files).toHaveLength(3)
    for (const [index, name] of ['one', 'three', 'two'].entries()) {
      expect(files[index]).toContain(`Part ${index + 1} of 3; 3 pages in all.`)
      expect(files[index]?.match(/^- .*$/gm)).toEqual([
        `- [${name}](#p${made.findIndex(({ title }) => title === name) + 1}-${name})`,
      ])
    }
  })

  it('leads a link to the file where its page is', async () => {
    const filler = 'some words to fill the file. '.repeat(200)
    const files = await parts(
      [
        { url: `${site}/a`, title: 'A', markdown: `[self](${site}/a) [b](${site}/b)\n\n${filler}\n` },
        { url: `${site}/b`, title: 'B', markdown: `[a](${site}/a)\n\n${filler}\n` },
      ],
      2_000,
    )
    expect(files[0]).toContain('[self](#p1-a) [b](part-000002.md#p2-b)')
    expect(files[1]).toContain('[a](part-000001.md#p1-a)')
  })

  it('divides a page that is too large at its headings', async () => {
    const section = (name: string): string => `## ${name}\n\n${'words of a section. '.repeat(150)}\n\n`
    const made = { url: `${site}/a`, title: 'A', markdown: `# A\n\n${['x', 'y', 'z', 'w'].map(section).join('')}` }
    const files = await parts([made], 2_000)
    expect(files.map((file) => file.match(/^##+ (?!Contents).*$/gm))).toEqual([
      ['## A', '### x', '### y'],
      ['## A (continued)', '### z', '### w'],
    ])
    expect(files[1]).toContain('- A (continued)\n')
  })

  it('does not cut code that one file can hold, and closes and opens again what none can', async () => {
    const code = (lines: number): string => `\`\`\`py\n${'call(value)\n'.repeat(lines)}\`\`\``
    const made = {
      url: `${site}/a`,
      title: 'A',
      markdown: `${'before. '.repeat(300)}\n\n${code(200)}\n\n${code(1000)}\n`,
    }
    const files = await parts([made], 2_000)
    const blocks = files.flatMap((file) => file.match(/^```py\n(?:call\(value\)\n)*```$/gm) ?? [])
    const sizes = blocks.map((text) => text.split('\n').length - 2)
    expect(sizes).toContain(200)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(1200)
  })
})

describe('plain text', () => {
  it.each([
    ['# A \\*b\\*\n\n**bold** *em* ~~no~~ `code *x*`\n', 'A *b*\n\nbold em no code *x*\n'],
    [
      '[text \\[x\\]](<https://a.test/b_(c)>) ![alt](i.png "title") <https://a.test/>\n',
      'text [x] alt https://a.test/\n',
    ],
    ['| A | B\\|c |\n| --- | --- |\n| 1 | [2](x) |\n', 'A\tB|c\n1\t2\n'],
    ['- one\n\n  ```js\n  # code\n  ```\n\n- two\n  - *n*\n', '- one\n\n  # code\n\n- two\n  - n\n'],
    ['```\n~~~\n\n**not bold**\n```\n', '~~~\n\n**not bold**\n'],
    ['> quoted `a`\n> more\n\n2 * 3 = 6, H<sub>2</sub>O\n', 'quoted a\nmore\n\n2 * 3 = 6, H2O\n'],
    ['a(*`x`*, [*`y`* [, z]]) **`b`** *c `d` e*\n', 'a(x, [y [, z]]) b c d e\n'],
    ['| A<br>B |\n| --- |\n| [x [1]](y)<br>z |\n', 'A B\nx [1] z\n'],
    ['- [ ] open\n- [x] [done](y) [note] [a](b)](c\n', '- [ ] open\n- [x] done [note] a](c\n'],
    ['', ''],
  ])('of %j is %j', (markdown, text) => expect(textOf(markdown)).toBe(text))
})

describe('inline Markdown', () => {
  it('is cut without loss, whatever it holds', () => {
    const pieces = fc.constantFrom('`', '``', '\\', '](', ')', '(', '<', '>', '[', 'a', ' ', '\n', 'https://a.test/')
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 200 }), (parts) => {
        const text = parts.join('')
        expect([...inlineSpans(text)].map((span) => span.text).join('')).toBe(text)
      }),
    )
  })
})
