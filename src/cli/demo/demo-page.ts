/** The HTML of the demo's pages: one plain template, so that the hosts' files hold little but their texts. */

export interface DemoPage {
  readonly title: string
  /** The main part, as HTML. */
  readonly main: string
  /** `en` unless given. */
  readonly lang?: string
  readonly description?: string
  /** The links in the navigation: path or URL, and its words. */
  readonly links?: Readonly<Record<string, string>>
  /** Said in a meta element; nothing is said unless given. */
  readonly charset?: string
}

export function renderDemoPage(page: DemoPage): string {
  const links = Object.entries(page.links ?? {}).map(([href, words]) => `<li><a href="${href}">${words}</a></li>`)
  const lines = [
    '<!doctype html>',
    `<html lang="${page.lang ?? 'en'}">`,
    '<head>',
    ...(page.charset === undefined ? [] : [`<meta charset="${page.charset}">`]),
    `<title>${page.title}</title>`,
    ...(page.description === undefined ? [] : [`<meta name="description" content="${page.description}">`]),
    '</head>',
    '<body>',
    ...(links.length === 0 ? [] : ['<nav><ul>', ...links, '</ul></nav>']),
    '<main>',
    `<h1>${page.title}</h1>`,
    page.main,
    '</main>',
    '</body>',
    '</html>',
    '',
  ]
  return lines.join('\n')
}
