/**
 * What page furniture is called: navigation, banners, sidebars, marks beside headings. Names are whole class tokens
 * of well-known themes and documentation tools, not substrings, since a page about cookies is not a cookie banner.
 */
import type { Attributes } from './attributes.ts'

const JUNK_CLASSES: ReadonlySet<string> = new Set(
  `ad ads adsbygoogle advertisement back-to-top backtotop bottomlang breadcrumb breadcrumbs catlinks comments-area
  comments-section cookie-banner cookie-bar cookie-consent cookie-notice cookiebar copy-button copybtn copy-btn crumbs
  devsite-breadcrumb-list devsite-page-rating docs-sidebar edit-link edit-on-github edit-page edit-page-link
  edit-this-page editlink editsection feedback-widget file-actions gdpr github-edit headerlink heading-anchor
  hash-link header-anchor anchor-link anchorjs-link headeranchor header-link heading-link jp-anchor linenodiv lineno
  linenos line-numbers line-numbers-rows line-numbers-wrapper linenumbers mobile-nav mw-editsection mw-jump-link nav
  nav-header nav-panel nav-footer navbar navbox navfooter navheader navigation newsletter newsletter-signup
  next-prev noprint octicon-link on-this-page page-feedback page-nav page-navigation pagination pagination-nav
  permalink post-navigation prev-next prev-next-area prev-next-footer prevnext printfooter related related-articles
  related-posts rouge-gutter rst-footer-buttons screen-reader-text share-buttons sharing sidebar sidebar-wrapper
  site-footer site-header site-nav skip-link skip-nav skip-to-content skiplink social-share social-links
  sphinxsidebar sphinxsidebarwrapper sr-only table-of-contents theme-edit-this-page toc-sidebar toplang viewcode-link
  visually-hidden visuallyhidden was-this-helpful wy-breadcrumbs wy-nav-side wy-nav-top`.split(/\s+/),
)
const JUNK_PREFIXES = [
  'cookie-',
  'cookieconsent',
  'md-footer',
  'md-header',
  'md-nav',
  'md-sidebar',
  'onetrust',
  'osano',
]
const JUNK_IDS: ReadonlySet<string> = new Set(
  `breadcrumb breadcrumbs cookie-banner cookie-consent cookie-law-info-bar cookie-notice cookiebanner cookieconsent
  cybotcookiebotdialog footer header-nav left-sidebar leftnav masthead nav navbar navigation onetrust-banner-sdk
  onetrust-consent-sdk page-footer page-header path preamble-nav quickview right-sidebar rightnav side-nav sidebar
  site-footer site-header site-navigation skip-link sphinxsidebar topnav usercentrics-root`.split(/\s+/),
)
const JUNK_ROLES: ReadonlySet<string> = new Set(
  'alertdialog banner complementary contentinfo dialog menu menubar navigation search toolbar'.split(' '),
)
const CALLOUT_CLASSES: ReadonlySet<string> = new Set(
  `admonition alert callout caution custom-block danger hint important info markdown-alert note notecard notice
  starlight-aside theme-admonition tip warning`.split(/\s+/),
)
const CALLOUT_TITLES: ReadonlySet<string> = new Set(
  'admonition-title custom-block-title markdown-alert-title starlight-aside__title'.split(' '),
)
const ASIDE_CONTENT: ReadonlySet<string> = new Set([
  ...CALLOUT_CLASSES,
  'footnote',
  'footnote-list',
  'topic',
  'footnotes',
])
const CONTENT_CLASSES: ReadonlySet<string> = new Set(
  `article-body article-content devsite-article-body entry-content markdown-body markdown-section md-content
  mw-parser-output post-content rst-content sl-markdown-content theme-doc-markdown vp-doc wiki-content body
  page-content`.split(/\s+/),
)
const CONTENT_IDS: ReadonlySet<string> = new Set(
  `article content doccontent documentation main main-content maincontent mw-content-text page-content
  bodycontent`.split(/\s+/),
)

/** Whether a block of this name and these attributes is furniture. A section's id comes from its heading: no clue. */
export function isFurniture(name: string, attributes: Attributes): boolean {
  const { role, id, hidden, style } = attributes
  if (role !== undefined && JUNK_ROLES.has(role)) return true
  if (role !== 'tabpanel') {
    if (hidden !== undefined && hidden !== 'until-found') return true
    if (style !== undefined && HIDDEN_STYLE.test(style)) return true
  }
  if (attributes['aria-hidden'] === 'true') return true
  if (id !== undefined && name !== 'section' && JUNK_IDS.has(id.toLowerCase())) return true
  if (name === 'aside') return attributes.class === undefined || (factsOf(attributes.class) & ASIDE) === 0
  return hasJunkClass(attributes)
}

const HIDDEN_STYLE = /display\s?:\s?none|visibility\s?:\s?hidden/i

/** Whether a run of text or a link is furniture by its class: a permalink, a line number, text for screen readers. */
export function hasJunkClass(attributes: Attributes): boolean {
  return attributes.class !== undefined && (factsOf(attributes.class) & JUNK) !== 0
}

export function isJunkClass(value: string): boolean {
  return (factsOf(value) & JUNK) !== 0
}

/** A note, a warning, a tip. */
export function isCallout(attributes: Attributes): boolean {
  return attributes.class !== undefined && (factsOf(attributes.class) & CALLOUT) !== 0
}

export function isCalloutTitle(attributes: Attributes): boolean {
  return attributes.class !== undefined && (factsOf(attributes.class) & CALLOUT_TITLE) !== 0
}

/** Whether a tool or theme calls this element the page's content. */
export function isNamedContent(attributes: Attributes): boolean {
  if (attributes.itemprop === 'articleBody') return true
  if (attributes.id !== undefined && CONTENT_IDS.has(attributes.id.toLowerCase())) return true
  return attributes.class !== undefined && (factsOf(attributes.class) & CONTENT) !== 0
}

/** Words that a link consists of when it leads to an editor, a bug tracker or the top of the page. */
const LINK_TO_TOOLS =
  /^(?:edit|edit (?:this page|page|on git\w+|source|this page on git\w+)|view (?:page )?source|show source|suggest (?:an )?edits?|improve this (?:page|doc)|report (?:a |an )?(?:bug|issue|problem)|back to top|top|skip to (?:main )?content|permalink|permanent link|link to this (?:heading|section)|copy(?: code| link)?)$/i

export function isToolLink(text: string): boolean {
  return LINK_TO_TOOLS.test(text)
}

const JUNK = 1
const CALLOUT = 2
const CALLOUT_TITLE = 4
const ASIDE = 8
const CONTENT = 16

/** A site has a few hundred class attributes, met on every page: what they mean is worked out once. */
const MAX_REMEMBERED = 4096
const remembered = new Map<string, number>()

function factsOf(value: string): number {
  const known = remembered.get(value)
  if (known !== undefined) return known
  let facts = 0
  for (const token of classTokens(value)) {
    if (JUNK_CLASSES.has(token) || JUNK_PREFIXES.some((prefix) => token.startsWith(prefix))) facts |= JUNK
    if (CALLOUT_CLASSES.has(token)) facts |= CALLOUT
    if (CALLOUT_TITLES.has(token)) facts |= CALLOUT_TITLE
    if (ASIDE_CONTENT.has(token)) facts |= ASIDE
    if (CONTENT_CLASSES.has(token)) facts |= CONTENT
  }
  if (value.length <= MAX_CLASS_LENGTH) {
    if (remembered.size >= MAX_REMEMBERED) remembered.clear()
    // A slice of a page would keep the whole page in memory: the key is a copy.
    remembered.set(Buffer.from(value).toString(), facts)
  }
  return facts
}

/** Most class attributes are short; a longer one is a style sheet in disguise, and its head is enough. */
const MAX_CLASS_LENGTH = 512

export function classTokens(value: string): string[] {
  return value.slice(0, MAX_CLASS_LENGTH).toLowerCase().split(/\s+/)
}
