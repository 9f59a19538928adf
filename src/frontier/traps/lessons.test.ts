import { expect, test } from 'vitest'
import { acquit, createLessons } from './lessons.ts'

const NEW = { isAlike: false, isKin: false }

test('of the lessons used longest ago, one of a place with few good pages is forgotten first', () => {
  const lessons = createLessons()
  for (let page = 0; page < 500; page++) acquit(lessons.open(1), NEW, 1)
  for (let id = 2; id < 300; id++) acquit(lessons.open(id), NEW, 1)
  expect(lessons.find(1)?.good).toBe(500)
  expect(lessons.find(2)).toBeUndefined()
  expect(lessons.find(299)?.good).toBe(1)
})
