/**
 * A program: reads all hungry pages of a size, one after the other, and says the name of each before it is read. At last it
 * says how many bytes there were outside of the heap at most, after any page. It dies of the first page that needs more
 * heap than the program may have.
 */
import { readDocument } from '../index.ts'
import { hungryPages } from './hungry-pages.ts'

let outside = 0
for (const { name, input } of hungryPages(Number(process.argv[2]))) {
  process.stdout.write(`${name}\n`)
  await readDocument(input)
  outside = Math.max(outside, process.memoryUsage().external)
}
process.stdout.write(`${outside}\n`)
