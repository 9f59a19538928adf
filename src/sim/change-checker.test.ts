import { expect, test } from 'vitest'
import type { Settlement } from '../frontier/index.ts'
import type { Change } from '../model/index.ts'
import { createChangeChecker } from './change-checker.ts'
import type { Reaction, Visit } from './web.ts'

const URL = 'https://a.test/'

function visited(): {
  hear(reaction: Partial<Extract<Reaction, { kind: 'answer' }>>): void
  say(change: Change): void
} {
  const checker = createChangeChecker()
  return {
    hear(reaction) {
      const answer = { kind: 'answer', status: 200, headers: {}, body: '', thinkMs: 0, bodyMs: 0, ...reaction } as const
      checker.heard?.({ url: URL, kind: 'page' } as Visit, answer)
    },
    say(change) {
      const task = { kind: 'page', url: URL, ...(change === 'new' ? {} : { last: {} }) }
      const visit = { change, hash: null, etag: null, lastModified: null }
      checker.committed({ task, outcome: { kind: 'done' }, visit, answeredAt: 1 } as unknown as Settlement)
    },
  }
}

test.each([
  ['changed', { edition: 0 }],
  ['unchanged', { edition: 1 }],
  ['changed', { status: 304, edition: 0 }],
  ['missed', { status: 404 }],
  ['unchanged', { status: 410 }],
  ['gone', { status: 503 }],
] as const)('a page that is said to be %s when its host sent %j is noticed', (change, second) => {
  const { hear, say } = visited()
  hear({ edition: 0 })
  say('new')
  hear(second)
  if (change === 'gone') expect(() => say('changed')).toThrow('told to be changed')
  else expect(() => say(change)).toThrow(`told to be ${change}`)
})

test('an edition that comes after a 304 is told against the one that the 304 stood for', () => {
  const { hear, say } = visited()
  hear({ edition: 0, body: 'a' })
  say('new')
  hear({ status: 304, edition: 0 })
  say('unchanged')
  hear({ edition: 1, body: 'b' })
  expect(() => say('unchanged')).toThrow('it is changed')
  hear({ edition: 1, body: 'b' })
  say('unchanged')
})

test('of two requests that crossed, neither is judged', () => {
  const { hear, say } = visited()
  hear({ edition: 0 })
  say('new')
  hear({ edition: 0 })
  hear({ edition: 1 })
  say('unchanged')
})
