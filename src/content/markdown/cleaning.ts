/** What the rules for elements share: the page that is cleaned, how, and where to. */
import type { Attributes } from './attributes.ts'
import type { CleanWriter } from './clean-writer.ts'
import type { ElementKind } from './elements.ts'
import type { LinkResolver } from './links.ts'
import type { Region } from './main-region.ts'
import type { OpenLevels } from './open-levels.ts'
import type { Outline } from './outline.ts'

export interface CleanOptions {
  readonly links: LinkResolver
  /** Keeps navigation, footers and sidebars: for a page that has nothing else. */
  readonly keepFurniture: boolean
  /** The region is the whole page, so a header without a first-level heading belongs to the site. */
  readonly wholePage: boolean
}

export interface Cleaning {
  readonly outline: Outline
  readonly region: Region
  readonly options: CleanOptions
  readonly writer: CleanWriter
  /** The writer's. */
  readonly levels: OpenLevels
}

/**
 * Begins the element of an event: opens exactly one level, which its end will close. False when the element is left
 * out with all that it holds; then nothing is open.
 */
export type Rule = (cleaning: Cleaning, event: number, attributes: Attributes, element: ElementKind) => boolean

/** By the element's name. */
export type Rules = Readonly<Record<string, Rule>>
