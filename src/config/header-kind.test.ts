import { describe, expect, test } from 'vitest'
import { TiptoeError } from '../model/index.ts'
import {
  explainSettings,
  headersInForce,
  parseArguments,
  resolveSettings,
  settingsFromLibrary,
  toCrawlYaml,
  type OriginHeader,
  type Settings,
} from './index.ts'

const SECRET = 'hunter2-hunter2'
const ORIGIN = 'https://a.example'

const fromFlags = (...texts: string[]): Settings =>
  resolveSettings({ version: '1', flags: parseArguments(texts.flatMap((text) => ['--header', text])).flags }).settings

const fromYaml = (text: string): Settings => resolveSettings({ version: '1', file: { path: 'c.yaml', text } }).settings

function faultOf(run: () => unknown): TiptoeError {
  try {
    run()
  } catch (error) {
    if (error instanceof TiptoeError && error.code === 'usage') return error
    throw error
  }
  throw new Error('nothing was refused')
}

describe('a header field', () => {
  test('is for one origin, in whatever way it is written', () => {
    const expected = [{ origin: ORIGIN, name: 'authorization', value: 'Bearer $TOKEN' }]
    expect(fromFlags('HTTPS://A.example:443/ Authorization: Bearer $TOKEN').headers).toEqual(expected)
    expect(fromFlags(`  ${ORIGIN}   Authorization:Bearer $TOKEN  `).headers).toEqual(expected)
    const mapping = `{ origin: ${ORIGIN}, name: Authorization, value: Bearer $TOKEN }`
    expect(fromYaml(`crawler: { headers: [${mapping}] }`).headers).toEqual(expected)
    expect(fromYaml(`crawler: { headers: '${ORIGIN} Authorization: Bearer $TOKEN' }`).headers).toEqual(expected)
    expect(settingsFromLibrary({ headers: expected }, '1').headers).toEqual(expected)
    expect(settingsFromLibrary({ headers: [`${ORIGIN} Authorization: Bearer $TOKEN`] }, '1').headers).toEqual(expected)
  })

  test('may be given for several origins, and several for one', () => {
    const { headers } = fromFlags('http://b.example:8080 X-Key: a:b c', `${ORIGIN} X-One: 1`, `${ORIGIN} X-Two: 2`)
    expect(headers).toEqual([
      { origin: 'http://b.example:8080', name: 'x-key', value: 'a:b c' },
      { origin: ORIGIN, name: 'x-one', value: '1' },
      { origin: ORIGIN, name: 'x-two', value: '2' },
    ])
  })

  test.each([
    [SECRET, 'expected ORIGIN NAME: VALUE'],
    [`${ORIGIN} ${SECRET}`, 'expected ORIGIN NAME: VALUE'],
    [`${ORIGIN} :${SECRET}`, 'expected ORIGIN NAME: VALUE'],
    [`Authorization: Bearer: ${SECRET}`, 'expected an origin'],
    [`a.example Authorization: ${SECRET}`, 'expected an origin'],
    [`ftp://a.example Authorization: ${SECRET}`, 'expected an origin'],
    [`${ORIGIN}/docs Authorization: ${SECRET}`, 'expected an origin'],
    [`https://me:${SECRET}@a.example Authorization: x`, 'expected an origin'],
    [`${ORIGIN}?${SECRET} X: x`, 'expected an origin'],
    [`${ORIGIN} X Y: ${SECRET}`, 'expected the name of a header field'],
    [`${ORIGIN} (X): ${SECRET}`, 'expected the name of a header field'],
    [`${ORIGIN} X:`, 'is empty'],
    [`${ORIGIN} X: ${SECRET}\r\nEvil: 1`, 'cannot carry'],
    [`${ORIGIN} X: ${SECRET}\0`, 'cannot carry'],
    [`${ORIGIN} X: ${SECRET}ł`, 'cannot carry'],
    [`${ORIGIN} X: ${SECRET.repeat(400)}`, 'more than 4096 characters'],
    [`${ORIGIN} X: ${SECRET.repeat(800)}`, 'expected ORIGIN NAME: VALUE'],
    [`${ORIGIN} X: ${SECRET}$TOKEN`, 'a variable may stand alone or after one word'],
    [`${ORIGIN} X: $TOKEN ${SECRET}`, 'a variable may stand alone or after one word'],
    [`${ORIGIN} X: \${TOKEN`, 'a variable may stand alone or after one word'],
  ])('as %j is refused without being repeated', (text, words) => {
    const { message, hint } = faultOf(() => fromFlags(text))
    expect(message).toMatch(/^--header: /)
    expect(message).toContain(words)
    expect(`${message} ${hint}`).not.toContain(SECRET)
  })

  test.each([
    'Host',
    'connection',
    'Keep-Alive',
    'Proxy-Connection',
    'Proxy-Authorization',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'HTTP2-Settings',
    'Content-Length',
    'Expect',
    'User-Agent',
    'Accept-Encoding',
    'Range',
    'If-None-Match',
  ])('%s is not for a user to set', (name) => {
    const { message } = faultOf(() => fromFlags(`${ORIGIN} ${name}: x`))
    expect(message).toContain(`the header field ${name.toLowerCase()} `)
  })

  test.each([
    [`crawler: { headers: [{ origin: ${ORIGIN}, name: x, valeu: ${SECRET} }] }`, 'did you mean value?'],
    [`crawler: { headers: [{ origin: ${ORIGIN}, value: ${SECRET} }] }`, 'name is missing'],
    [`crawler: { headers: [{ origin: ${ORIGIN}, name: x, value: [${SECRET}] }] }`, 'value (line 1, column'],
    [`crawler: { headers: [{ origin: ${ORIGIN}, name: x, value: 5 }] }`, 'expected text'],
    [`crawler: { headers: [7] }`, 'expected a mapping with origin, name, value'],
    [`crawler: { headers: { ${ORIGIN}: ${SECRET} } }`, 'unknown key'],
  ])('in a file as %j is refused without being repeated', (text, words) => {
    const { message } = faultOf(() => fromYaml(text))
    expect(message).toContain(words)
    expect(message).not.toContain(SECRET)
  })

  test('is given once for an origin', () => {
    const { message } = faultOf(() => fromFlags(`${ORIGIN} X: 1`, `${ORIGIN}/ x: ${SECRET}`))
    expect(message).toBe(`--header: the header field x is given twice for ${ORIGIN}`)
  })
})

describe('a secret given in full', () => {
  const settings = fromFlags(`${ORIGIN} Authorization: Bearer ${SECRET}`)

  test('is sent, and neither written nor shown', () => {
    expect(headersInForce(settings.headers, {})).toMatchObject([{ value: `Bearer ${SECRET}` }])
    expect(toCrawlYaml(settings)).toContain('value: (withheld)')
    expect(toCrawlYaml(settings)).not.toContain(SECRET)
    expect(JSON.stringify(settings)).not.toContain(SECRET)
    const resolved = resolveSettings({
      version: '1',
      flags: { headers: [`${ORIGIN} Authorization: Bearer ${SECRET}`] },
    })
    expect(explainSettings(resolved)).toContain('(withheld)')
    expect(explainSettings(resolved)).not.toContain(SECRET)
    expect(JSON.stringify(resolved)).not.toContain(SECRET)
  })

  test('must be given again when the crawl is resumed, and only then', () => {
    const stored = { path: 'crawl.yaml', text: toCrawlYaml(settings) }
    const resumed = resolveSettings({ version: '1', stored }).settings
    expect(faultOf(() => headersInForce(resumed.headers, {}))).toMatchObject({
      message: `the value of the header field authorization for ${ORIGIN} was not kept with the crawl`,
      hint: expect.stringContaining(`--header '${ORIGIN} authorization: …'`),
    })
    expect(toCrawlYaml(resumed)).toBe(stored.text)
    const again = resolveSettings({ version: '1', stored, flags: { headers: [`${ORIGIN} Authorization: again`] } })
    expect(headersInForce(again.settings.headers, {})).toMatchObject([{ value: 'again' }])
  })
})

describe('a secret in the environment', () => {
  const inForce = (value: string, environment: Record<string, string>): readonly OriginHeader[] =>
    headersInForce(fromFlags(`${ORIGIN} X: ${value}`).headers, environment)

  test('is kept by the name of its variable, and read when it is needed', () => {
    const settings = fromFlags(`${ORIGIN} Cookie: session=$SID`)
    const stored = { path: 'crawl.yaml', text: toCrawlYaml(settings) }
    expect(stored.text).toContain('value: session=$SID')
    const resumed = resolveSettings({ version: '1', stored }).settings
    expect(headersInForce(resumed.headers, { SID: SECRET })).toMatchObject([{ value: `session=${SECRET}` }])
  })

  test.each([
    ['$T', 'abc'],
    ['${T}', 'abc'],
    ['Bearer $T', 'Bearer abc'],
    ['Bearer ${T}', 'Bearer abc'],
    ['costs $5', 'costs $5'],
    ['$', '$'],
  ])('%s becomes %s', (value, expected) => {
    expect(inForce(value, { T: 'abc\n' })).toEqual([{ origin: ORIGIN, name: 'x', value: expected }])
  })

  test('that is missing, empty or broken is a usage error that does not repeat it', () => {
    for (const environment of [{}, { T: '' }]) {
      expect(faultOf(() => inForce('$T', environment)).message).toBe(
        `the variable T is not set; the header field x for ${ORIGIN} needs it`,
      )
    }
    const { message } = faultOf(() => inForce('$T', { T: `${SECRET}\r\nEvil: 1` }))
    expect(message).toContain('cannot carry')
    expect(message).not.toContain(SECRET)
  })
})
