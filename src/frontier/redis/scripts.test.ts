import { describe, expect, test } from 'vitest'
import { loadScript, partitionScript } from './scripts.ts'

const definedIn = (text: string): string[] =>
  [...text.matchAll(/^local (?:function )?([\w, ]+)/gm)].flatMap(([, names = '']) => names.trim().split(/, */))

describe('a verb', () => {
  test('has nothing of what is shared that it does not use', () => {
    const { text } = partitionScript('answer', 'return 1')
    expect(text).toBe('return (function()\nreturn 1\nend)()')
    expect(definedIn(loadScript('ack').text)).not.toContain('read_host')
  })

  test('has what it uses, and what that uses, in the order in which it is defined', () => {
    const { text } = partitionScript('peek', 'return due_of(read_host(ASKED.host))')
    const order = ['HOSTS', 'OPTIONS', 'QUIET', 'host_from', 'lane_from', 'read_host', 'paced_from', 'due_of']
    expect(definedIn(text).filter((name) => order.includes(name))).toEqual(order)
  })

  test('has a statement whole that defines a name in a second step', () => {
    const { text } = partitionScript('now', 'return NOW')
    expect(text).toContain("if ARGV[2] == '' then")
  })
})
