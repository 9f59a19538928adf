/**
 * Markdown as text for people and programs that know no Markdown: no signs, no targets of links, code as it is, cells
 * of a table apart by tabs. Paragraphs, lists and their order stay.
 */
import { blocksOf, headingText, mapRuns, type Block } from './blocks.ts'
import { inlineSpans } from './inline.ts'

const TABLE_RULE = /^[ >]*\|(?:[ \t]*:?-{2,}:?[ \t]*\|)+[ \t]*$/
const FENCE_LINE = /^([ \t>\-*+\d.]*?)(?:`{3,}|~{3,})/

/** Ends with a newline; empty for no text. */
export function textOf(markdown: string): string {
  let out = ''
  for (const block of blocksOf(markdown)) {
    const text = block.level === undefined ? blockText(block) : inlineText(headingText(block))
    if (text.trim() !== '') out += `${out === '' ? '' : '\n'}${text}\n`
  }
  return out
}

function blockText(block: Block): string {
  const prose = (text: string): string =>
    text
      .split('\n')
      .filter((line) => !TABLE_RULE.test(line))
      .map(lineText)
      .join('\n')
  return mapRuns(block, prose, codeText)
}

/** Fences say nothing; what stands before the first of them in a list may. */
function codeText([first = '', ...rest]: readonly string[]): string {
  const before = FENCE_LINE.exec(first)?.[1] ?? ''
  const isClosed = rest.length > 0 && FENCE_LINE.test(rest.at(-1) ?? '')
  return [...(/[^\s>]/.test(before) ? [before.trimEnd()] : []), ...(isClosed ? rest.slice(0, -1) : rest)].join('\n')
}

function lineText(line: string): string {
  const quoted = line.replace(/^(?:[ ]*>[ ]?)+/, '')
  const cells = /^[ ]*\|(.*)\|[ ]*$/.exec(quoted)?.[1]
  if (cells === undefined) return inlineText(quoted.trimEnd())
  return cells
    .split(/(?<!\\)\|/)
    .map((cell) => inlineText(cell.trim()))
    .join('\t')
}

const MARKS =
  /\\([!-/:-@[-`{-~])|!?\[|\]\($|\]|\*+(?=\S)|(?<=\S)\*+|~~|<br>|<\/?[a-z]{1,10}>|<((?:https?|mailto):[^\s>]{1,8192})>/g
/** Stands for code beside a text: signs that touch it are signs. */
const CODE = '\u0000'

/** Brackets stay, unless they are those of a link. */
function inlineText(text: string): string {
  const spans = [...inlineSpans(text)]
  const kindAt = (index: number): string | undefined => spans[index]?.kind
  const out: string[] = []
  /** Where the brackets that are open stand in `out`. */
  const open: number[] = []
  const put = (mark: string, escaped: string | undefined, url: string | undefined, isLink: boolean): void => {
    if (escaped !== undefined) out.push(escaped)
    else if (mark.endsWith('[')) {
      open.push(out.length)
      out.push(mark)
    } else if (mark.startsWith(']')) {
      const begin = open.pop()
      if (isLink && mark === '](' && begin !== undefined) out[begin] = ''
      else out.push(mark)
    } else out.push(url ?? (mark === '<br>' ? ' ' : ''))
  }
  spans.forEach(({ kind, text: part }, index) => {
    if (kind === 'code') out.push(part.replace(/^`+ ?|`+$/g, ''))
    if (kind !== 'text') return
    const prose = kindAt(index - 1) === 'target' ? part.replace(/^[^)]{0,1000}?\)/, '') : part
    const beside = (other: number): string => (kindAt(other) === 'code' ? CODE : '')
    const whole = `${beside(index - 1)}${prose.replaceAll(CODE, '')}${beside(index + 1)}`
    let from = 0
    for (const { 0: mark, 1: escaped, 2: url, index: at } of whole.matchAll(MARKS)) {
      out.push(whole.slice(from, at))
      put(mark, escaped, url, kindAt(index + 1) === 'target')
      from = at + mark.length
    }
    out.push(whole.slice(from))
  })
  return out.join('').replaceAll(CODE, '')
}
