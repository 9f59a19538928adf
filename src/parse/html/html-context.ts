/**
 * As much of HTML's tree construction as decides whether a tag means what it says: is it inside svg or math, and is it
 * inside the inert content of a template? Templates, svg, math and what is inside these two are remembered, so the rest
 * of a page costs nothing; never more than `MAX_DEPTH` of them. HTML elements are not: one that is left open inside
 * a `foreignObject` makes a browser ignore the end tags around it, and this does not.
 */
import { COLOR, ENCODING, FACE, SHADOWROOTMODE, SIZE, type Attributes } from './html-vocabulary.ts'

/** Browsers themselves stop nesting at 512; svg and templates in each other are a fraction of that. */
const MAX_DEPTH = 256

/** Elements of svg and math that hold HTML again (HTML Standard §13.2.6, integration points). */
const SVG_INTEGRATION = new Set(['foreignobject', 'desc', 'title'])
const MATH_INTEGRATION = new Set(['mi', 'mo', 'mn', 'ms', 'mtext'])

/** Elements at which one kind of content ends and another begins. */
const BOUNDARIES = new Set(['svg', 'math', 'template', 'annotation-xml', ...SVG_INTEGRATION, ...MATH_INTEGRATION])

/** Start tags that end svg or math where they stand (HTML Standard §13.2.6.5). */
const BREAKOUT = new Set(
  (
    'b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta ' +
    'nobr ol p pre ruby s small span strong strike sub sup table tt u ul var'
  ).split(' '),
)

export type Namespace = 'html' | 'svg' | 'math'

export interface HtmlContext {
  /** Takes a start tag in; to be called before its meaning is asked for. Returns the namespace it belongs to. */
  open(name: string, attributes: Attributes, isSelfClosing: boolean): Namespace
  close(name: string): void
  /** Whether anything is remembered: if not, no tag but the start of an svg, a math or a template matters here. */
  isInside(): boolean
  /** Whether what follows is read by the rules for svg and math. */
  isForeign(): boolean
  /** Whether what follows is template content, which no one sees. */
  isInert(): boolean
}

interface OpenElement {
  readonly name: string
  readonly inside: Namespace
}

export function createHtmlContext(): HtmlContext {
  /** Open elements that matter, outermost first, each with the namespace of what is inside it. */
  const open: OpenElement[] = []
  let templates = 0
  const namespaceHere = (): Namespace => open.at(-1)?.inside ?? 'html'
  /** Two elements stay math even where math holds HTML; `<svg>` may stand in an annotation that does not. */
  const namespaceOfTag = (name: string): Namespace => {
    const parent = open.at(-1)
    if (parent === undefined) return 'html'
    if (MATH_INTEGRATION.has(parent.name) && (name === 'mglyph' || name === 'malignmark')) return 'math'
    return name === 'svg' && parent.name === 'annotation-xml' ? 'html' : parent.inside
  }
  const push = (name: string, inside: Namespace): void => {
    if (open.length >= MAX_DEPTH) return
    open.push({ name, inside })
    if (isTemplate(open.at(-1))) templates++
  }
  const cutTo = (depth: number): void => {
    while (open.length > depth) if (isTemplate(open.pop())) templates--
  }
  const breakOut = (): void => {
    while (namespaceHere() !== 'html') open.pop()
  }
  return {
    open(name, attributes, isSelfClosing) {
      if (namespaceHere() !== 'html' && (BREAKOUT.has(name) || (name === 'font' && isStyledFont(attributes))))
        breakOut()
      const namespace = namespaceOfTag(name)
      if (namespace !== 'html') {
        if (!isSelfClosing) push(name, isIntegrationPoint(namespace, name, attributes) ? 'html' : namespace)
        return namespace
      }
      if (name === 'svg' || name === 'math') {
        if (!isSelfClosing) push(name, name)
        return name
      }
      // A declarative shadow root is the content of its host, and shown.
      if (name === 'template' && !attributes.has(SHADOWROOTMODE)) push(name, 'html')
      return 'html'
    },
    close(name) {
      if (open.length === 0) return
      if (name === 'p' || name === 'br') return breakOut()
      // In HTML, an end tag of any other name belongs to an element that is not remembered.
      if (namespaceHere() === 'html' && !BOUNDARIES.has(name)) return
      for (let depth = open.length - 1; depth >= 0; depth--) {
        if (open[depth]?.name === name) return cutTo(depth)
        // An end tag inside a template never closes what is outside it.
        if (isTemplate(open[depth])) return
      }
    },
    isInside: () => open.length > 0,
    isForeign: () => open.length > 0 && namespaceHere() !== 'html',
    isInert: () => templates > 0,
  }
}

function isTemplate(element: OpenElement | undefined): boolean {
  return element?.name === 'template' && element.inside === 'html'
}

function isIntegrationPoint(namespace: Namespace, name: string, attributes: Attributes): boolean {
  if (namespace === 'svg') return SVG_INTEGRATION.has(name)
  if (name !== 'annotation-xml') return MATH_INTEGRATION.has(name)
  const encoding = attributes.get(ENCODING)?.toLowerCase()
  return encoding === 'text/html' || encoding === 'application/xhtml+xml'
}

function isStyledFont(attributes: Attributes): boolean {
  return attributes.has(COLOR) || attributes.has(FACE) || attributes.has(SIZE)
}
