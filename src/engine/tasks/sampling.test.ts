import { expect, test } from 'vitest'
import type { NormalizedUrl, Task } from '../../model/index.ts'
import { createSampling } from './sampling.ts'

const page = (url: string, more: Partial<Task> = {}): Task =>
  ({ kind: 'page', url: url as NormalizedUrl, depth: 0, ...more }) as Task
const wanted = (wants: (task: Task) => boolean, count: number, url: (number: number) => string): number =>
  Array.from({ length: count }, (_, number) => page(url(number))).filter(wants).length

test('of pages that are read, every one is wanted but those that the frontier leaves out', () => {
  const wants = createSampling({ traps: true, content: true })
  expect(wants(page('https://a.test/plain'))).toBe(true)
  expect(wants(page('https://a.test/plain', { isUnsampled: true }))).toBe(false)
})

test('of links alone, those with parts in their addresses, where a host has more than a few', () => {
  const wants = createSampling({ traps: true, content: false })
  expect(wanted(wants, 100, (number) => `https://a.test/plain-${number}`)).toBe(0)
  expect(wanted(wants, 108, (number) => `https://a.test/list?from=${number}`)).toBe(100)
  expect(wanted(wants, 8, (number) => `https://b.test/2027/${number}/`)).toBe(0)
})

test('where traps are not looked for, none is', () => {
  const wants = createSampling({ traps: false, content: true })
  expect(wanted(wants, 20, (number) => `https://a.test/list?from=${number}`)).toBe(0)
})
