import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeBody } from '../index.ts'

const ascii = (text: string): Uint8Array => Uint8Array.from(text, (char) => char.charCodeAt(0))
const charset = (bytes: Uint8Array | string, contentType: string | null = null): string =>
  decodeBody(typeof bytes === 'string' ? ascii(bytes) : bytes, contentType).charset
const decoded = (label: string, ...bytes: number[]): string =>
  decodeBody(Uint8Array.from(bytes), `text/html; charset=${label}`).text

describe('the order of evidence', () => {
  test('a byte order mark goes before the header, the header before meta', () => {
    const bom = '\xef\xbb\xbf'
    const meta = '<meta charset=koi8-r>'
    expect(charset(bom + meta, 'text/html; charset=iso-8859-2')).toBe('utf-8')
    expect(charset(meta, 'text/html; charset=iso-8859-2')).toBe('iso-8859-2')
    expect(charset(meta, 'text/html; charset=bogus')).toBe('koi8-r')
    expect(charset(meta, 'text/html')).toBe('koi8-r')
    expect(decodeBody(ascii('\xff\xfea\0'), 'text/html; charset=utf-8')).toEqual({ text: 'a', charset: 'utf-16le' })
    expect(decodeBody(ascii('\xfe\xff\0a'), null)).toEqual({ text: 'a', charset: 'utf-16be' })
    expect(decodeBody(ascii(bom + 'a'), null)).toEqual({ text: 'a', charset: 'utf-8' })
  })

  test.each([
    ['text/html;charset=utf-8', 'utf-8'],
    ['text/html; Charset="UTF-8"', 'utf-8'],
    ['text/html; a=";charset=koi8-r"; charset=latin1', 'windows-1252'],
    ['text/html; boundary; charset=euc-jp ; x=y', 'euc-jp'],
    ['text/html; charset=utf-16', 'utf-16le'],
    ['text/html; charset="ut\\f-8"', 'utf-8'],
    ['text/html; charset=x-user-defined', 'x-user-defined'],
    ['text/html; charset=gbk\r\n', 'gbk'],
    ['text/html; charset=";charset=foo"; charset=gbk', 'windows-1252'],
    ['text/html; charset =gbk', 'windows-1252'],
    ['text/html; charset= "gbk"', 'windows-1252'],
    ["text/html; charset='gbk'", 'windows-1252'],
    ['text/html; charset=\u0100; charset=gbk', 'gbk'],
    ['text/html; charset=; charset=gbk', 'gbk'],
    ['text; charset=gbk', 'windows-1252'],
    ['text/html; charset=gbk, text/html', 'gbk'],
    ['text/html; charset=gbk, text/plain', 'windows-1252'],
    ['text/plain; charset=gbk, text/html; charset=koi8-r', 'koi8-r'],
    ['text/html; charset=gbk, */*; charset=koi8-r, nonsense', 'gbk'],
    ['text/html; x="a, text/plain"; charset=gbk', 'gbk'],
  ])('the header %j says %s', (contentType, name) => {
    expect(charset('x', contentType)).toBe(name)
  })

  test.each([
    ['', 'windows-1252'],
    ['plain', 'windows-1252'],
    ['caf\xc3\xa9', 'utf-8'],
    ['caf\xe9', 'windows-1252'],
    ['cut off caf\xc3\xa9 \xe2\x82', 'utf-8'],
    ['\xe2\x82(', 'windows-1252'],
  ])('%j without a declaration is %s', (text, name) => {
    expect(charset(text)).toBe(name)
  })

  test('only HTML is searched for a declaration', () => {
    expect(charset('<meta charset=koi8-r>', 'text/plain')).toBe('windows-1252')
    expect(charset('<meta charset=koi8-r>', 'application/octet-stream')).toBe('koi8-r')
    expect(charset('<?xml version="1.0" encoding="iso-8859-2"?><x/>', 'application/xhtml+xml')).toBe('iso-8859-2')
    expect(charset('<x>\xe9</x>', 'text/xml')).toBe('utf-8')
  })
})

describe('the declaration in the page', () => {
  test.each([
    ['<meta charset="iso8859-2">', 'iso-8859-2'],
    ["<meta charset = 'iso8859-2'>", 'iso-8859-2'],
    ['<META/CHARSET=iso8859-2>', 'iso-8859-2'],
    ['<meta charset="\niso8859-2\n">', 'iso-8859-2'],
    ['<metacharset=iso8859-2>', 'windows-1252'],
    ['<meta charset=iso8859-2', 'windows-1252'],
    ['<meta <meta charset=iso8859-2>', 'iso-8859-2'],
    ['<meta charset=bogus><meta charset=iso8859-2>', 'iso-8859-2'],
    ['<meta charset=iso8859-2><meta charset=koi8-r>', 'iso-8859-2'],
    ['<meta http-equiv=Content-Type content="text/html; charset=iso8859-2">', 'iso-8859-2'],
    ['<meta content="charset charset = \'iso8859-2\'" http-equiv=content-type>', 'iso-8859-2'],
    ['<meta content="text/html; charset=iso8859-2">', 'windows-1252'],
    ['<meta http-equiv=content-type content="charset=\'iso8859-2">', 'windows-1252'],
    ['<meta http-equiv=content-type content="charset=koi8-r" charset=iso8859-2>', 'iso-8859-2'],
    ['<!-- <meta charset=iso8859-2> -->', 'windows-1252'],
    ['<!--><meta charset=iso8859-2>-->', 'iso-8859-2'],
    ['<p title="<meta charset=iso8859-2>">', 'windows-1252'],
    ['<script>"<meta charset=iso8859-2>"</script>', 'iso-8859-2'],
    ['<meta charset=utf-16le>', 'utf-8'],
    ['<meta charset=x-user-defined>', 'windows-1252'],
    ['<?xml version="1.0" encoding="iso8859-2"?>', 'iso-8859-2'],
    ['<?xml encoding="iso8859-2"?><meta charset=koi8-r>', 'koi8-r'],
    ['<?xml encoding="utf-16"?>', 'utf-8'],
    ['<\0?\0x\0m\0', 'utf-16le'],
    ['\0<\0?\0x\0m', 'utf-16be'],
  ])('%j means %s', (html, name) => {
    expect(charset(html)).toBe(name)
  })

  test('beyond the first 1024 bytes counts if it is a real meta element', () => {
    const filler = `<!-- ${'x'.repeat(1100)} -->`
    expect(charset(`${filler}<meta charset=iso8859-2>`)).toBe('iso-8859-2')
    expect(charset(`${filler}<meta http-equiv=content-type content="a;charset=iso8859-2">`)).toBe('iso-8859-2')
    expect(charset(`${filler}<meta charset=utf-16><meta charset=iso8859-2>`)).toBe('utf-8')
    expect(charset(`${filler}<script>"<meta charset=iso8859-2>"</script>`)).toBe('windows-1252')
    expect(charset(`${filler}<!-- <meta charset=iso8859-2> -->`)).toBe('windows-1252')
    expect(decodeBody(ascii(`${filler}<meta charset=koi8-r>\xc1`), null).text.at(-1)).toBe('а')
  })
})

describe('decoding', () => {
  test.each([
    ['windows-1252 fills 0x80 to 0x9f', 'latin1', [0x80, 0x81, 0x92, 0x9f], '€\x81’Ÿ'],
    ['utf-8 replaces each broken sequence once', 'utf-8', [0xe2, 0x82, 0x41, 0xff, 0xf0, 0x9f], '\ufffdA\ufffd\ufffd'],
    ['utf-16 without a mark', 'utf-16', [0x41, 0, 0, 0xd8, 0x42, 0, 1], 'A\ufffdB\ufffd'],
    ['utf-16be', 'utf-16be', [0, 0x41], 'A'],
    ['x-user-defined', 'x-user-defined', [0x41, 0x80, 0xff], 'A\uf780\uf7ff'],
    ['iso-8859-8-i', 'logical', [0xe0], 'א'],
    ['iso-8859-16', 'iso-8859-16', [0xa4, 0xaa], '€Ș'],
    ['koi8-u', 'koi8-u', [0xae, 0xbe], 'ўЎ'],
    ['x-mac-cyrillic', 'x-mac-ukrainian', [0xdf, 0xff], 'я€'],
    ['gbk has gb18030 and a lone 0x80', 'gb2312', [0x80, 0xa2, 0xe3, 0x81, 0x30, 0x84, 0x36], '€€¥'],
    ['big5', 'big5', [0xa4, 0xa4, 0xa4, 0xe5], '中文'],
    ['big5 with the Hong Kong supplement', 'big5-hkscs', [0x87, 0x40, 0x87, 0x45, 0xfe, 0xfe, 0xf9, 0xfe], '䏰𧉧秔￭'],
    ['big5 with letters that have two accents', 'big5', [0x88, 0x62, 0x88, 0xa5], 'Ê̄ê̌'],
    ['big5 with the picture of DEL', 'big5', [0xa3, 0xe0], '␡'],
    [
      'big5 keeps ASCII after a broken pair',
      'big5',
      [0xa4, 0x3c, 0x81, 0x40, 0x80, 0xff, 0xa4],
      '\ufffd<\ufffd@\ufffd\ufffd\ufffd',
    ],
    ['shift_jis', 'sjis', [0x82, 0xa0, 0xb1, 0x81, 0x20], 'あｱ\ufffd '],
    [
      'shift_jis with its extensions and private use',
      'sjis',
      [0x87, 0x40, 0xfa, 0x40, 0xf0, 0x40, 0x80],
      '①ⅰ\ue000\x80',
    ],
    [
      'shift_jis keeps ASCII after a broken pair, and control characters',
      'sjis',
      [0x85, 0x40, 0x81, 0xff, 0xa0, 0x1a, 0x1c, 0x7f, 0x82],
      '\ufffd@\ufffd\ufffd\x1a\x1c\x7f\ufffd',
    ],
    ['euc-jp', 'x-euc-jp', [0xa4, 0xa2, 0x8e, 0xb1, 0x8f, 0xb0, 0xa1], 'あｱ丂'],
    [
      'euc-jp keeps ASCII after a broken pair, and lets no C1 byte through',
      'euc-jp',
      [0xa4, 0x3c, 0x8e, 0x3c, 0x8f, 0xb0, 0x3c, 0x85, 0xa9, 0xa1, 0x8f],
      '\ufffd<\ufffd<\ufffd<\ufffd\ufffd\ufffd',
    ],
    [
      'iso-2022-jp in its five modes',
      'iso-2022-jp',
      [0x1b, 0x28, 0x4a, 0x5c, 0x7e, 0x1b, 0x28, 0x49, 0x31, 0x1b, 0x24, 0x40, 0x24, 0x22, 0x1b, 0x28, 0x42, 0x5c],
      '¥‾ｱあ\\',
    ],
    [
      'iso-2022-jp with an escape too many, and one cut off',
      'iso-2022-jp',
      [0x1b, 0x28, 0x4a, 0x1b, 0x28, 0x42, 0x41, 0x0e, 0x1b, 0x24, 0x42, 0x24, 0x1b, 0x28],
      '\ufffdA\ufffd\ufffd\ufffd\ufffd',
    ],
    ['iso-2022-jp', 'iso-2022-jp', [0x1b, 0x24, 0x42, 0x24, 0x22, 0x1b, 0x28, 0x42, 0x41], 'あA'],
    ['euc-kr', 'ks_c_5601-1987', [0xb0, 0xa1, 0xc8, 0xfe], '가힝'],
    ['euc-kr with the syllables of windows-949', 'euc-kr', [0x81, 0x41, 0x8c, 0x63, 0xc6, 0x52], '갂똠힣'],
    ['euc-kr with the euro and the registered sign', 'euc-kr', [0xa2, 0xe6, 0xa2, 0xe7], '€®'],
    [
      'euc-kr keeps ASCII after a broken pair',
      'euc-kr',
      [0xb0, 0x3c, 0x81, 0x5b, 0xc9, 0xa1, 0xff, 0xb0],
      '\ufffd<\ufffd[\ufffd\ufffd\ufffd',
    ],
    ['the replacement encoding hides everything', 'iso-2022-kr', [0x41, 0x42], '\ufffd'],
    ['the replacement encoding of nothing', 'hz-gb-2312', [], ''],
  ])('%s', (_, label, bytes, text) => {
    expect(decoded(label, ...bytes)).toBe(text)
  })

  test.each([
    ['big5', '99894312a016da54'],
    ['euc-kr', '02dbf3867eadaf18'],
    ['shift_jis', '1bcb2553a681e18c'],
    ['euc-jp', 'edc8ecb89d98dba8'],
  ])('%s has every pair of its index in the Encoding Standard, and no other', (label, digest) => {
    const bytes: number[] = []
    for (let lead = 0x80; lead <= 0xff; lead++)
      for (let trail = 0x21; trail <= 0xff; trail++) bytes.push(lead, trail, 0x20)
    const text = decoded(label, ...bytes)
    expect(createHash('sha256').update(text).digest('hex').slice(0, 16)).toBe(digest)
  })

  test('the replacement encoding has its name', () => {
    expect(charset('x', 'text/html; charset=csiso2022kr')).toBe('replacement')
  })

  test('never throws, and names an encoding, whatever the bytes and the header', () => {
    const declared = fc.constantFrom('', '<meta charset=', '<?xml encoding="', '<meta content="charset=')
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), declared, fc.option(fc.string()), (bytes, start, header) => {
        const result = decodeBody(Uint8Array.from([...ascii(start), ...bytes]), header)
        expect(result.charset).toBe(result.charset.toLowerCase())
        expect(result.text.isWellFormed()).toBe(true)
      }),
    )
  })
})
