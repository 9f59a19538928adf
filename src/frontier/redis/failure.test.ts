import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readAuthority } from './authority-file.ts'
import { connectionFailure, replyFailure } from './failure.ts'

const failing = (code: string): Error => Object.assign(new Error('failed'), { code })

test('a certificate for another name is told from one that nobody vouches for', () => {
  expect(connectionFailure(failing('ERR_TLS_CERT_ALTNAME_INVALID'), 'a:1')).toMatchObject({
    kind: 'fatal',
    error: {
      message: 'the certificate of a:1 is for another name (ERR_TLS_CERT_ALTNAME_INVALID)',
      hint: 'name the store as its certificate does',
    },
  })
  expect(connectionFailure(failing('SELF_SIGNED_CERT_IN_CHAIN'), 'a:1')).toMatchObject({
    kind: 'fatal',
    error: { hint: 'name the file of its authority with --store-ca' },
  })
})

test('who has lost the state of a crawl is told what can be done', () => {
  const reply = 'TIPTOE the state of the crawl c is lost: partition 8 is empty'
  expect(replyFailure(reply, 'a:1')).toMatchObject({
    kind: 'fatal',
    error: {
      message: 'the state of the crawl c is lost: partition 8 is empty',
      hint: expect.stringContaining('--crawl') as string,
    },
  })
})

test('certificates that cannot be read are the fault of whoever named them', () => {
  const missing = join(mkdtempSync(join(tmpdir(), 'tiptoe-authority-')), 'none.pem')
  expect(() => readAuthority(missing)).toThrow(
    expect.objectContaining({ code: 'usage', message: expect.stringContaining(missing) as string }) as Error,
  )
})
