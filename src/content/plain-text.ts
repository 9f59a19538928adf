/**
 * The words of Markdown without its signs and without link targets: what two copies of a text share, however they
 * are linked. Every pattern here is linear: none can scan the same text again from another start.
 */

const TARGET = /\]\((?:<[^<>\n]*>|[^()<>\s]*)\)/g
const TABLE_RULE = /^\|(?: -{3} \|)+$/gm
const LINE_SIGNS = /^[ \t]*(?:>[ \t]?|#{1,6} |[-*+] |\d{1,9}\. |`{3,}\S*$|-{3}$|\| )+/gm
const INLINE_SIGNS = /\\(?=[!-/:-@[-`{-~])|\*+|`+|!?\[|\]|~~|<\/?[a-z]{1,10}>| \|/g

export function plainText(markdown: string): string {
  return markdown.replace(TARGET, ' ').replace(TABLE_RULE, '').replace(LINE_SIGNS, '').replace(INLINE_SIGNS, '').trim()
}
