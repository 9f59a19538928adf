import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createAgenda } from './agenda.ts'

test('the first is always the one with the smallest time among those that are set', () => {
  const step = fc.record({ item: fc.nat(9), at: fc.option(fc.nat(30), { nil: undefined }) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 600 }), (steps) => {
      const agenda = createAgenda<number>()
      const model = new Map<number, number>()
      for (const { item, at } of steps) {
        if (at === undefined) {
          agenda.delete(item)
          model.delete(item)
        } else {
          agenda.set(item, at)
          model.set(item, at)
        }
        const first = agenda.first()
        if (model.size === 0) expect(first).toBeUndefined()
        else {
          expect(first?.at).toBe(Math.min(...model.values()))
          expect(model.get(first?.item ?? -1)).toBe(first?.at)
        }
      }
    }),
  )
})
