/**
 * A program: reads all hungry pages of a size, those of HTML with no more than so many tags if it is told a number, one
 * after the other, and says the name of each before it is read. At last it says how many bytes there were outside of the
 * heap at most, after any page. It dies of the first page that needs more heap than the program may have.
 */
import { readDocument, type PageInput } from '../index.ts'
import { hungryPages } from './hungry-pages.ts'

const [bytes, mostTags] = process.argv.slice(2).map(Number)
const LESS = 0x3c

let outside = 0
for (const { name, input } of hungryPages(bytes as number)) {
  if (mostTags !== undefined && !(isHtml(input) && tagsIn(input) <= mostTags)) continue
  process.stdout.write(`${name}\n`)
  await readDocument(input)
  outside = Math.max(outside, process.memoryUsage().external)
}
process.stdout.write(`${outside}\n`)

function isHtml({ headers }: PageInput): boolean {
  return headers['content-type']?.[0]?.includes('html') === true
}

function tagsIn({ body }: PageInput): number {
  return body.reduce((tags, byte) => (byte === LESS ? tags + 1 : tags), 0)
}
