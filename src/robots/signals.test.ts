import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseRobots, ROBOTS_MAX_SIGNAL_LINES } from './index.ts'

const signals = (body: string, url = '/a', name = 'tiptoe') => parseRobots(body).contentSignals(name, url)

describe('content signals', () => {
  test.each([
    ['Content-Signal: search=yes, ai-input=no, ai-train=no', { search: true, 'ai-input': false, 'ai-train': false }],
    ['content-signal:search=YES,AI-Train = no', { search: true, 'ai-train': false }],
    ['Content-signal: search=yes,ai-train=no,use=reference', { search: true, 'ai-train': false }],
    ['Content-Usage: / train-ai=n', { 'train-ai': false }],
    ['Content-Usage: train-ai=y, search="n"', { 'train-ai': true, search: false }],
    ['Content-Signal: ai-train=no # all rights reserved', { 'ai-train': false }],
    ['Content-Signal: ai-train=yes\nContent-Signal: ai-train=no', { 'ai-train': false }],
    ['Content-Signal: ai-train=no, ai-train=yes', { 'ai-train': false }],
    ['Content-Signal: search=yes\nContent-Usage: / search=n, train-ai=y', { search: false, 'train-ai': true }],
    ['Content-Signal: constructor=no', { constructor: false }],
  ])('%j says %j', (line, expected) => {
    expect(signals(`User-agent: *\n${line}\nAllow: /`)).toEqual(expected)
  })

  test.each([
    '',
    'Content-Signal:',
    'Content-Signal: search',
    'Content-Signal: search=maybe',
    'Content-Signal: =no',
    'Content-Signal: __proto__=no',
    'Content-Signal: /b search=no',
    'Content-Signal: use=full',
    'Allow: /',
  ])('%j says nothing', (line) => {
    expect(signals(`User-agent: *\n${line}`)).toBeUndefined()
  })

  test('are those of the longest path that matches, of each directive by itself', () => {
    const body = `User-Agent: *
Content-Usage: / train-ai=n
Content-Usage: /ai-ok/ train-ai=y
Content-Usage: /*.pdf$ train-ai=n, search=n
Content-Signal: ai-train=no`
    expect(signals(body, 'https://example.com/test')).toEqual({ 'train-ai': false, 'ai-train': false })
    expect(signals(body, '/ai-ok/test')).toEqual({ 'train-ai': true, 'ai-train': false })
    expect(signals(body, '/ai-ok')).toEqual({ 'train-ai': false, 'ai-train': false })
    expect(signals(body, '/ai.pdf')).toEqual({ 'train-ai': false, search: false, 'ai-train': false })
  })

  test('speak to whom their group speaks', () => {
    const body = `User-agent: *
Content-Signal: ai-train=no
User-agent: Tiptoe
Content-Signal: ai-train=yes
Disallow: /x`
    expect(signals(body)).toEqual({ 'ai-train': true })
    expect(signals(body, '/a', 'other')).toEqual({ 'ai-train': false })
    expect(signals('User-agent: a\nUser-agent: tiptoe\nContent-Signal: search=no')).toEqual({ search: false })
    expect(signals('User-agent: *\nContent-Signal: search=no\n\nUser-agent: tiptoe\nAllow: /')).toBeUndefined()
  })

  test('before any user-agent line speak to everyone to whom no other line speaks', () => {
    const body =
      'Content-Signal: search=no\nUser-agent: tiptoe\nContent-Signal: search=yes\nUser-agent: *\nDisallow: /x'
    expect(signals(body)).toEqual({ search: true })
    expect(signals(body, '/a', 'other')).toEqual({ search: false })
  })

  test('of groups that name one crawler count together', () => {
    const body = `User-agent: tiptoe
Content-Signal: search=yes
Disallow: /a
User-agent: tiptoe
Content-Signal: ai-train=no`
    expect(signals(body)).toEqual({ search: true, 'ai-train': false })
  })

  test('leave every rule where it was', () => {
    const rules = (line: string) =>
      parseRobots(`User-agent: a\n${line}User-agent: tiptoe\nDisallow: /x\nCrawl-delay: 2`)
    for (const name of ['a', 'tiptoe', 'other']) {
      const [plain, signalled] = [rules(''), rules('Content-Signal: search=no\n')]
      expect(signalled.check(name, '/x').allowed).toBe(plain.check(name, '/x').allowed)
      expect(signalled.crawlDelayMs(name)).toBe(plain.crawlDelayMs(name))
    }
  })

  test('are bounded in lines and names', () => {
    const names = Array.from({ length: 100 }, (_, at) => `n${at}=no`)
    expect(Object.keys(signals(`User-agent: *\nContent-Signal: ${names.join()}`) ?? {})).toHaveLength(16)
    const lines = names.map((name) => `Content-Signal: ${name}`).join('\n')
    expect(Object.keys(signals(`User-agent: *\n${lines}`) ?? {})).toHaveLength(16)
    const many = 'Content-Signal: search=yes\n'.repeat(ROBOTS_MAX_SIGNAL_LINES)
    expect(signals(`User-agent: *\n${many}Content-Signal: search=no`)).toEqual({ search: true })
  })

  test('never throw, whatever the line and the URL', () => {
    const word = fc.constantFrom('search', '=', 'yes', 'no', ',', ' ', '/', '*', '$', '"', '%', 'ü', '\0', '\t', 'a')
    fc.assert(
      fc.property(fc.array(word, { maxLength: 30 }), fc.string({ unit: 'binary' }), (words, url) => {
        const found = signals(`User-agent: *\nContent-Usage: ${words.join('')}`, url)
        for (const isPermitted of Object.values(found ?? {})) expect(isPermitted).toBeTypeOf('boolean')
      }),
    )
  })
})
