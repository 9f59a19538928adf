import { expect, test } from 'vitest'
import type { HostKey } from '../model/index.ts'
import { DEFAULT_SCORE } from './defaults.ts'
import { endow, hostImportance, hostScore, passOn, tierByScore } from './importance.ts'
import { newHost, type HostRow } from './storage.ts'

const hostRow = (id: number): HostRow => ({ ...newHost(id, `h${id}.test` as HostKey), depth: 0 })

function web(count: number) {
  const sums = { importance: { total: 0, pot: 0 }, hosts: 0 }
  const hosts = Array.from({ length: count }, (_, index) => {
    sums.hosts += 1
    const host = hostRow(index + 1)
    endow(host, sums)
    return host
  })
  return { sums, hosts: hosts as [HostRow, HostRow, HostRow, ...HostRow[]] }
}

test('a host that others link to is more important than one that nobody links to', () => {
  const { sums, hosts } = web(10)
  const [hub, leaf, ...others] = hosts
  for (let round = 0; round < 5; round++) for (const other of others) passOn(other, 3, [hub], sums)
  expect(hostImportance(hub, sums)).toBeGreaterThan(0.7)
  expect(hostImportance(leaf, sums)).toBeLessThan(0.5)
  expect(tierByScore(hostScore(hub, sums, DEFAULT_SCORE), DEFAULT_SCORE)).toBe('high')
})

test('a link from an important host is worth more than one from another', () => {
  const { sums, hosts } = web(20)
  const [hub, friend, stranger, nobody, ...others] = hosts
  for (const other of others) passOn(other, 0, [hub], sums)
  passOn(hub, 0, [friend], sums)
  passOn(nobody as HostRow, 0, [stranger], sums)
  expect(hostImportance(friend, sums)).toBeGreaterThan(hostImportance(stranger, sums))
})

test('no cash comes from nowhere or gets lost: what hosts have, and the pot, stay what hosts began with', () => {
  const { sums, hosts } = web(6)
  const all = (): number => hosts.reduce((sum, host) => sum + host.cash, sums.importance.pot)
  for (let turn = 0; turn < 200; turn++) {
    const from = hosts[turn % 6] as HostRow
    const to = hosts.filter((host) => host !== from && (host.id * turn) % 3 === 0)
    passOn(from, turn % 4, to, sums)
  }
  expect(all()).toBeCloseTo(6, 9)
  sums.hosts += 1
  const late = hostRow(7)
  endow(late, sums)
  expect(late.cash).toBeGreaterThan(1)
  expect(all() + late.cash).toBeCloseTo(7, 9)
})

test('one host alone is as important as hosts are on average, and of tier medium', () => {
  const { sums, hosts } = web(1)
  for (let turn = 0; turn < 50; turn++) passOn(hosts[0], 10, [], sums)
  expect(hostImportance(hosts[0], sums)).toBeGreaterThan(0.45)
  expect(tierByScore(hostScore(hosts[0], sums, DEFAULT_SCORE), DEFAULT_SCORE)).toBe('medium')
})
