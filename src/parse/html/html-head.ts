/**
 * Whether a page is still in its head, where alone a canonical link counts: whoever can write into the body of a page,
 * a commenter for one, must not be able to hand the page over to another. By the HTML Standard §13.2.6.4, the head ends
 * at the first tag or text that may not stand in it, whether or not `</head>` or `<body>` is written.
 */

export interface HtmlHead {
  open(name: string): void
  close(name: string): void
  text(piece: string): void
  isOpen(): boolean
}

const HEAD_ELEMENTS = new Set(
  'html head base basefont bgsound link meta title script style noscript noframes template'.split(' '),
)

/** Elements in whose inside anything may stand without ending the head. */
const CONTAINERS = new Set(['title', 'script', 'style', 'noscript', 'noframes', 'template'])

export function createHtmlHead(): HtmlHead {
  let isOpen = true
  let container = ''
  return {
    open(name) {
      if (!isOpen || container !== '') return
      if (!HEAD_ELEMENTS.has(name)) isOpen = false
      else if (CONTAINERS.has(name)) container = name
    },
    close(name) {
      if (name === container) container = ''
      else if (container === '' && (name === 'body' || name === 'html')) isOpen = false
    },
    text(piece) {
      if (isOpen && container === '' && /[^\t\n\f\r ]/.test(piece)) isOpen = false
    },
    isOpen: () => isOpen,
  }
}
