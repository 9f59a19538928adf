/**
 * What page furniture is called: navigation, banners, sidebars, marks beside headings. Names are whole class tokens
 * of well-known themes and documentation tools, not substrings, since a page about cookies is not a cookie banner.
 */
import { namesOf, type Attributes } from './attributes.ts'
import { ClassMemory, classTokens } from './class-memory.ts'
import { NameTable } from './name-table.ts'

const JUNK_CLASSES: ReadonlySet<string> = new Set(
  `ad ads adsbygoogle advertisement back-to-top backtotop bottomlang breadcrumb breadcrumbs catlinks comments-area
  comments-section cookie-banner cookie-bar cookie-consent cookie-notice cookiebar copy-button copybtn copy-btn crumbs
  devsite-breadcrumb-list devsite-page-rating docs-sidebar edit-link edit-on-github edit-page edit-page-link
  edit-this-page editlink editsection feedback-widget file-actions gdpr github-edit headerlink heading-anchor
  hash-link header-anchor anchor-link anchorjs-link headeranchor header-link heading-link jp-anchor linenodiv lineno
  linenos line-numbers line-numbers-rows line-numbers-wrapper linenumbers mobile-nav mw-editsection mw-jump-link nav
  nav-header nav-panel nav-footer navbar navbox navfooter navheader navigation newsletter newsletter-signup
  next-prev noprint footer srclink test-arrow hideme copy-path mobile-topbar gutter code-copy clipboard-copy
  btn-clipboard copy-to-clipboard-button octicon-link on-this-page page-feedback page-nav page-navigation pagination pagination-nav
  permalink post-navigation prev-next prev-next-area prev-next-footer prevnext printfooter related related-articles
  related-posts rouge-gutter rst-footer-buttons screen-reader-text share-buttons sharing sidebar sidebar-wrapper
  site-footer site-header site-nav skip-link skip-nav skip-to-content skiplink social-share social-links
  sphinxsidebar sphinxsidebarwrapper sr-only t-navbar table-of-contents theme-edit-this-page toc-sidebar toplang viewcode-link
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
const JUNK_IDS = new NameTable(
  `breadcrumb breadcrumbs cookie-banner cookie-consent cookie-law-info-bar cookie-notice cookiebanner cookieconsent
  contentsub cybotcookiebotdialog footer ft global-nav hd jump-to-nav mw-head mw-navigation mw-panel header-nav left-sidebar leftnav masthead nav navbar navigation onetrust-banner-sdk
  onetrust-consent-sdk page-footer page-header path preamble-nav quickview right-sidebar rightnav side-nav sidebar
  site-footer site-header site-navigation sitesub titlearea skip-link sphinxsidebar topnav usercentrics-root`.split(
    /\s+/,
  ),
)
const JUNK_ROLES: ReadonlySet<string> = new Set(
  'alertdialog banner complementary contentinfo dialog menu menubar navigation search toolbar'.split(' '),
)
const CALLOUT_CLASSES: ReadonlySet<string> = new Set(
  `admonition alert callout caution custom-block danger hint important info markdown-alert note notecard notice
  starlight-aside theme-admonition tip warning`.split(/\s+/),
)
const TITLES: ReadonlySet<string> = new Set(
  `admonition-title caption code-block-caption custom-block-title markdown-alert-title rubric sidebar-title
  starlight-aside__title topic-title`.split(/\s+/),
)
const ASIDE_CONTENT: ReadonlySet<string> = new Set([
  ...CALLOUT_CLASSES,
  'footnote',
  'footnote-list',
  'topic',
  'footnotes',
])
const SIGNATURES: ReadonlySet<string> = new Set(
  'sig member-signature module-signature package-signature type-signature memproto'.split(' '),
)
const CONTENTS: ReadonlySet<string> = new Set('local-toc page-toc table-of-contents toc'.split(' '))
const SECTION_LISTS: ReadonlySet<string> = new Set('block-list details-list member-list summary-list'.split(' '))
const EMOJI_CLASSES: ReadonlySet<string> = new Set('emoji g-emoji wp-smiley twemoji emojione'.split(' '))
const CONTENT_CLASSES: ReadonlySet<string> = new Set(
  `article-body article-content devsite-article-body entry-content markdown-body markdown-section md-content
  mw-parser-output post-content rst-content sl-markdown-content theme-doc-markdown vp-doc wiki-content body
  page-content`.split(/\s+/),
)
const CONTENT_IDS = new NameTable(
  `article bd content doccontent documentation main main-content maincontent mw-content-text page-content
  bodycontent yui-main`.split(/\s+/),
)

/** Whether a block of this name and these attributes is furniture. A section's id comes from its heading: no clue. */
export function isFurniture(name: string, attributes: Attributes): boolean {
  if (attributes.hasAny(TELLING)) {
    const { role, hidden, style } = attributes
    if (role !== undefined && JUNK_ROLES.has(role)) return true
    if (role !== 'tabpanel') {
      if (hidden !== undefined && hidden !== 'until-found') return true
      if (style !== undefined && HIDDEN_STYLE.test(style)) return true
    }
    if (attributes['aria-hidden'] === 'true') return true
  }
  if (name !== 'section' && attributes.find('id', JUNK_IDS) >= 0) return true
  if (name === 'aside') return (classFacts(attributes) & ASIDE) === 0
  // A table of related things is data; its neighbours on the page are furniture.
  return hasJunkClass(attributes) && !(name === 'table' && attributes.class === 'related')
}

const TELLING = namesOf('role', 'hidden', 'style', 'aria-hidden')
const HIDDEN_STYLE = /display\s?:\s?none|visibility\s?:\s?hidden/i

/** Whether a run of text or a link is furniture by its class: a permalink, a line number, text for screen readers. */
export function hasJunkClass(attributes: Attributes): boolean {
  return (classFacts(attributes) & JUNK) !== 0
}

/** A note, a warning, a tip. */
export function isCallout(attributes: Attributes): boolean {
  return (classFacts(attributes) & CALLOUT) !== 0
}

/** A box beside the text that has a title of its own (docutils): content, whereas other sidebars are the site's. */
export function isTitledSidebar(attributes: Attributes, html: string, tagEnd: number): boolean {
  if (attributes.class === undefined || !SIDEBAR.test(attributes.class)) return false
  SIDEBAR_TITLE.lastIndex = tagEnd
  return SIDEBAR_TITLE.test(html)
}

const SIDEBAR = /^sidebar$|^sidebar |^\w+ sidebar$/
const SIDEBAR_TITLE = /\s{0,20}<p class="(?:first )?sidebar-title/y

/** The title of a note, a listing, a group of footnotes: too small for a heading. */
export function isTitle(attributes: Attributes): boolean {
  return (classFacts(attributes) & TITLE) !== 0
}

/** A table of contents, by the names that tools agree on. */
export function isNamedContents(attributes: Attributes): boolean {
  if (attributes.id !== undefined && CONTENTS.has(attributes.id)) return true
  return (classFacts(attributes) & TOC) !== 0
}

/** A list of sections, by the names of documentation tools. */
export function isListOfSections(attributes: Attributes): boolean {
  return (classFacts(attributes) & SECTIONS) !== 0
}

/** A table made of blocks, whose cells are named for their column: `col-first`, `col-last`. */
export function isTableOfBlocks(attributes: Attributes): boolean {
  return (classFacts(attributes) & BLOCK_TABLE) !== 0
}

/** The signature of a function or type, which is code as a whole. */
export function isSignature(attributes: Attributes): boolean {
  return (classFacts(attributes) & SIGNATURE) !== 0
}

/** What tools put around the TeX of a formula that a script is to draw. */
export function isFormula(attributes: Attributes): boolean {
  return (classFacts(attributes) & FORMULA) !== 0
}

/** A highlighter's label, which says a code block's language. */
export function isLanguageLabel(attributes: Attributes): boolean {
  return (classFacts(attributes) & LANGUAGE_LABEL) !== 0
}

/** The number of a footnote. */
export function isNoteLabel(attributes: Attributes): boolean {
  return (classFacts(attributes) & NOTE_LABEL) !== 0
}

/** What stands above a page of Texinfo. */
export function isHeader(attributes: Attributes): boolean {
  return (classFacts(attributes) & HEADER) !== 0
}

/** An image in the place of a character. */
export function isEmoji(attributes: Attributes): boolean {
  return (classFacts(attributes) & EMOJI) !== 0
}

/** Whether a tool or theme calls this element the page's content. */
export function isNamedContent(attributes: Attributes): boolean {
  if (attributes.itemprop === 'articleBody') return true
  if (attributes.find('id', CONTENT_IDS) >= 0) return true
  return (classFacts(attributes) & CONTENT) !== 0
}

/** Words that a link consists of when it leads to an editor, a bug tracker or the top of the page. */
const LINK_TO_TOOLS =
  /^(?:edit (?:this page|page|on git\w+|source|this page on git\w+)|view (?:page )?source|show source|suggest (?:an )?edits?|improve this (?:page|doc)|report (?:a |an )?(?:bug|issue|problem)|back to top|skip to (?:main )?content|permalink|permanent link|link to this (?:heading|section)|copy (?:code|link)|\[(?:source|src|edit|hide|show|[−+-])\])$/i

/** The letters that a link to a tool may begin with, of those below as well. */
export const TOOL_INITIALS = 'bceilprstv'

/** Words that may be names as well, such as a command called `COPY`, and where such a link leads if it is a tool. */
const TOOLS_BY_TARGET: ReadonlyMap<string, RegExp> = new Map([
  ['edit', /[=/]edit[/&]|=edit$/i],
  ['top', /^#(?:top|page-top|header)?$/i],
  ['copy', /^(?:#$|javascript:)/i],
])

const MAX_TOOL_NAME = 4

export function isToolLink(text: string, target: string): boolean {
  if (text.length <= MAX_TOOL_NAME && TOOLS_BY_TARGET.get(text.toLowerCase())?.test(target) === true) return true
  return LINK_TO_TOOLS.test(text)
}

const JUNK = 1
const CALLOUT = 2
const TITLE = 4
const ASIDE = 8
const CONTENT = 16
const SIGNATURE = 32
const EMOJI = 64
const SECTIONS = 128
const BLOCK_TABLE = 256
const TOC = 512
const FORMULA = 1024
const LANGUAGE_LABEL = 2048
const NOTE_LABEL = 4096
const HEADER = 8192

const FACTS = new ClassMemory(factsOf)

/** None for an element without a class. */
function classFacts(attributes: Attributes): number {
  if (attributes.classFacts < 0) attributes.classFacts = attributes.classMeaning(FACTS, 0)
  return attributes.classFacts
}

function factsOf(value: string): number {
  let facts = 0
  if (value === 'lang') facts |= LANGUAGE_LABEL
  if (value === 'label') facts |= NOTE_LABEL
  if (value === 'header') facts |= HEADER
  for (const token of classTokens(value)) {
    if (JUNK_CLASSES.has(token) || JUNK_PREFIXES.some((prefix) => token.startsWith(prefix))) facts |= JUNK
    if (CALLOUT_CLASSES.has(token)) facts |= CALLOUT
    if (TITLES.has(token)) facts |= TITLE
    if (SECTION_LISTS.has(token)) facts |= SECTIONS
    if (CONTENTS.has(token)) facts |= TOC
    if (token === 'summary-table') facts |= BLOCK_TABLE
    if (token === 'math' || token === 'arithmatex') facts |= FORMULA
    if (ASIDE_CONTENT.has(token)) facts |= ASIDE
    if (CONTENT_CLASSES.has(token)) facts |= CONTENT
    if (SIGNATURES.has(token)) facts |= SIGNATURE
    if (EMOJI_CLASSES.has(token)) facts |= EMOJI
  }
  return facts
}
