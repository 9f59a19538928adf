/** What the rules for elements share: the page that is converted, how, and where to. */
import type { Attributes } from './attributes.ts'
import type { ElementKind } from './elements.ts'
import type { LinkResolver } from './links.ts'
import type { Region } from './main-region.ts'
import type { MarkdownWriter } from './markdown-writer.ts'
import type { OpenLevels } from './open-levels.ts'
import type { Outline } from './outline.ts'

export interface ConversionOptions {
  readonly links: LinkResolver
  /** Keeps navigation, footers and sidebars: for a page that has nothing else. */
  readonly keepFurniture: boolean
  /** The region is the whole page, so a header without a first-level heading belongs to the site. */
  readonly wholePage: boolean
  /** The page itself does not say that the region is its main content. */
  readonly isGuess: boolean
}

export interface Conversion {
  readonly outline: Outline
  readonly region: Region
  readonly options: ConversionOptions
  readonly writer: MarkdownWriter
  /** The writer's. */
  readonly levels: OpenLevels
  /** The events of the first and of the second heading; -1 where there is none. */
  readonly firstHeading: number
  readonly firstSection: number
  /** Tags that were looked at to judge blocks of links. */
  judged: number
}

/**
 * Begins the element of an event: opens exactly one level, which its end will close. False when the element is left
 * out with all that it holds; then nothing is open.
 */
export type Rule = (conversion: Conversion, event: number, attributes: Attributes, element: ElementKind) => boolean

/** By the element's name. */
export type Rules = Readonly<Record<string, Rule>>
