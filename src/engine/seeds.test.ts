import { expect, test } from 'vitest'
import { readSeed } from './seeds.ts'

test('a seed that is the address of something else is named without its password', () => {
  expect(() => readSeed('redis://user:sesame@store.test:6379')).toThrow('"redis://***@store.test:6379" is not a URL')
})
