/**
 * What a page says, read from the tree that parse5 makes of it, with every reference resolved by `URL`: slow and
 * independent, to compare `extract` with.
 */
import { html as names, parse, type DefaultTreeAdapterTypes } from 'parse5'

export interface ParsedPage {
  readonly links: ReadonlySet<string>
  readonly title: string | null
  readonly lang: string | null
  /** The contents of all `<meta name=description>`. */
  readonly descriptions: readonly string[]
}

type Element = DefaultTreeAdapterTypes.Element

const PAGE_RELATIONS = new Set(['next', 'prev', 'canonical', 'alternate'])

export function parsePage(html: string, pageUrl: string): ParsedPage {
  const references: string[] = []
  const titles: string[] = []
  const languages: string[] = []
  const descriptions: string[] = []
  let base: string | undefined

  const readElement = (element: Element, isInNoscript: boolean): void => {
    const get = (name: string): string | undefined => attributeOf(element, name)
    const href = get('href')
    const src = get('src')
    switch (element.tagName) {
      case 'base':
        if (!isInNoscript) base ??= href
        break
      case 'a':
      case 'area':
        if (href !== undefined) references.push(href)
        break
      case 'iframe':
      case 'frame':
        if (src !== undefined) references.push(src)
        break
      case 'link':
        if (href !== undefined && leadsToPage(get('rel') ?? '')) references.push(href)
        break
      case 'meta':
        if (get('name')?.toLowerCase() === 'description') descriptions.push(get('content') ?? '')
        break
      case 'title':
        titles.push(element.childNodes.map((node) => ('value' in node ? node.value : '')).join(''))
        break
      case 'html':
        languages.push(get('lang') ?? get('xml:lang') ?? '')
        break
      default:
    }
  }
  const visit = (node: DefaultTreeAdapterTypes.Node, isInNoscript: boolean): void => {
    if ('tagName' in node) {
      if (node.namespaceURI === names.NS.HTML) readElement(node, isInNoscript)
      else if (node.namespaceURI === names.NS.SVG && node.tagName === 'a') {
        const reference = attributeOf(node, 'href') ?? attributeOf(node, 'xlink:href')
        if (reference !== undefined) references.push(reference)
      }
    }
    // Template content hangs on `content`, not on `childNodes`: it is inert.
    if (!('childNodes' in node)) return
    const isInside = isInNoscript || node.nodeName === 'noscript'
    for (const child of node.childNodes) visit(child, isInside)
  }
  visit(parse(html, { scriptingEnabled: false }), false)

  const baseUrl = base === undefined ? pageUrl : baseOf(base, pageUrl)
  const links = references.map((reference) => resolved(reference, baseUrl)).filter((url) => url !== undefined)
  return {
    links: new Set(links),
    title: titles.map(collapsed)[0] || null,
    lang: languages[0] || null,
    descriptions: descriptions.map(collapsed),
  }
}

function attributeOf({ attrs }: Element, name: string): string | undefined {
  return attrs.find((attr) => (attr.prefix ? `${attr.prefix}:${attr.name}` : attr.name) === name)?.value
}

function leadsToPage(rel: string): boolean {
  const words = rel.toLowerCase().split(/[\t\n\f\r ]+/)
  return !words.includes('stylesheet') && words.some((word) => PAGE_RELATIONS.has(word))
}

function baseOf(reference: string, pageUrl: string): string {
  const url = URL.parse(reference, pageUrl)
  return url === null || url.protocol === 'data:' || url.protocol === 'javascript:' ? pageUrl : url.href
}

function resolved(reference: string, base: string): string | undefined {
  const url = URL.parse(reference, base)
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined
  url.username = url.password = ''
  const [href = ''] = url.href.split('#', 1)
  return href.length > 8_192 ? undefined : href
}

function collapsed(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
