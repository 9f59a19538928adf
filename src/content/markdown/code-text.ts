/**
 * Code as Markdown writes it: a fence or a run of backticks that is longer than any inside (CommonMark §4.5, §6.1), so
 * that the code stands as it is.
 */

/** A code block, without an empty line at its beginning and its end; '' where there is nothing. */
export function fencedCode(code: string, language: string): string {
  const lines = trimLines(code)
  if (lines === '') return ''
  const fence = '`'.repeat(Math.max(3, longestRun(lines) + 1))
  return `${fence}${language}\n${lines}\n${fence}`
}

/** A run of code in a line of text. */
export function codeSpan(code: string, inCell: boolean): string {
  const text = inCell ? code.replaceAll('|', '\\|') : code
  const longest = longestRun(text)
  if (longest === 0) return `\`${text}\``
  const ticks = '`'.repeat(longest + 1)
  return `${ticks} ${text} ${ticks}`
}

/** A code block in a cell of a table, which has one line. */
export function codeInCell(code: string): string {
  return trimLines(code)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => codeSpan(line.trimEnd(), true))
    .join('<br>')
}

function trimLines(code: string): string {
  let start = 0
  for (let at = 0; at < code.length && isBlank(code.charCodeAt(at)); at++) {
    if (code.charCodeAt(at) === 10) start = at + 1
  }
  return code.slice(start).trimEnd()
}

function isBlank(unit: number): boolean {
  return unit === 32 || unit === 9 || unit === 10
}

function longestRun(code: string): number {
  let longest = 0
  for (let at = code.indexOf('`'); at >= 0; at = code.indexOf('`', at)) {
    let end = at + 1
    while (code.charCodeAt(end) === 96) end++
    longest = Math.max(longest, end - at)
    at = end
  }
  return longest
}
