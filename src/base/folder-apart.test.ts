import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSystemClock } from './clock.ts'
import { makeFolderApart as make } from './folder-apart.ts'

const path = process.env['PATH']
const makeFolderApart = (path: string): void => make(path, createSystemClock())
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tiptoe-apart-'))
})
afterEach(() => {
  process.env['PATH'] = path
  rmSync(folder, { recursive: true, force: true })
})

test('the folder is there with those above it and with the rights of any other, and nothing else', () => {
  mkdirSync(join(folder, 'usual'))
  makeFolderApart(join(folder, 'a', 'b', 'content'))
  expect(readdirSync(join(folder, 'a', 'b'))).toEqual(['content'])
  expect(readdirSync(join(folder, 'a', 'b', 'content'))).toEqual([])
  expect(statSync(join(folder, 'a', 'b', 'content')).mode).toBe(statSync(join(folder, 'usual')).mode)
})

test('where no folder can be marked it is made as any other', () => {
  process.env['PATH'] = ''
  makeFolderApart(join(folder, 'content'))
  expect(readdirSync(folder)).toEqual(['content'])
})

test('what is there is left alone, a link included', () => {
  mkdirSync(join(folder, 'content', 'inside'), { recursive: true })
  makeFolderApart(join(folder, 'content'))
  expect(readdirSync(join(folder, 'content'))).toEqual(['inside'])
  symlinkSync(join(folder, 'content'), join(folder, 'link'))
  makeFolderApart(join(folder, 'link'))
  expect(readdirSync(folder).toSorted()).toEqual(['content', 'link'])
})

test.each(['before', 'after'])('what a crash has left %s the folder was there is removed', (when) => {
  mkdirSync(join(folder, 'content.apart', 'folder-Ab12Cd', 'new'), { recursive: true })
  mkdirSync(join(folder, 'content.apart', 'folder-Ef34Gh'))
  if (when === 'after') mkdirSync(join(folder, 'content'))
  makeFolderApart(join(folder, 'content'))
  expect(readdirSync(folder)).toEqual(['content'])
})

test('nothing is made or removed behind a link', () => {
  mkdirSync(join(folder, 'elsewhere', 'folder-Ab12Cd'), { recursive: true })
  symlinkSync(join(folder, 'elsewhere'), join(folder, 'content.apart'))
  makeFolderApart(join(folder, 'content'))
  expect(readdirSync(join(folder, 'elsewhere'))).toEqual(['folder-Ab12Cd'])
  expect(readdirSync(join(folder, 'content'))).toEqual([])
})

test('a folder that cannot be had apart is made all the same', () => {
  mkdirSync(join(folder, 'content.apart', 'of somebody'), { recursive: true })
  makeFolderApart(join(folder, 'content'))
  expect(existsSync(join(folder, 'content'))).toBe(true)
  expect(readdirSync(join(folder, 'content.apart'))).toEqual(['of somebody'])
})
