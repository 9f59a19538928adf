import { expect, test, vi } from 'vitest'
import { createRng, createSystemClock } from '../../base/index.ts'
import { connectRedis } from './connection.ts'

vi.mock('@redis/client', () => {
  throw new Error('not installed')
})

test('without the package that speaks with Redis the user is told what to install', async () => {
  const link = connectRedis('redis://127.0.0.1:1', { clock: createSystemClock(), rng: createRng(1) })
  await expect(link.run({ name: 'x', text: 'return 1', sha: 'x' }, ['k'], [])).rejects.toMatchObject({
    code: 'store',
    hint: 'npm install @redis/client',
  })
  await link.close()
})
