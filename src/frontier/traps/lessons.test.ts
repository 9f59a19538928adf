import { expect, test } from 'vitest'
import { acquit, blame, createLessons, FULL, type Demand } from './lessons.ts'

const NEW = { isAlike: false, isKin: false }

test('of the lessons used longest ago, one of a place with few good pages is forgotten first', () => {
  const lessons = createLessons()
  for (let page = 0; page < 500; page++) acquit(lessons.open(1), NEW, 1)
  for (let id = 2; id < 300; id++) acquit(lessons.open(id), NEW, 1)
  expect(lessons.find(1)?.good).toBe(500)
  expect(lessons.find(2)).toBeUndefined()
  expect(lessons.find(299)?.good).toBe(1)
})

test('a lesson in force is kept when nothing more is learned of it, whatever else there is to learn', () => {
  const lessons = createLessons()
  const demand: Demand = { kinds: 0, caution: 1 }
  for (let page = 0; page < 3; page++) blame(lessons.open(1), FULL, page)
  for (let id = 2; id < 300; id++) {
    blame(lessons.open(id), FULL, 1)
    if (id % 3 === 0) acquit(lessons.open(id), NEW, 1)
  }
  const lesson = lessons.find(1)
  expect(lesson !== undefined && lessons.holds(lesson, demand)).toBe(true)
  expect(lessons.find(2)).toBeUndefined()
})
