/** The few colours that are used, each for one meaning. Colour is never the only carrier of a message. */

const CODES = { strong: '1', dim: '2', bad: '31', good: '32', warning: '33' } as const
export type Style = keyof typeof CODES

export function paint(color: boolean, style: Style, text: string): string {
  return color ? `\u001b[${CODES[style]}m${text}\u001b[0m` : text
}
