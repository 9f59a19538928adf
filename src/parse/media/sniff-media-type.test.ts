import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isNosniff, sniffMediaType } from '../index.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const hex = (digits: string): Uint8Array => Buffer.from(digits.replaceAll(' ', ''), 'hex')
const typeOf = (header: string | null, body: string | Uint8Array, nosniff = false): string =>
  sniffMediaType(header, typeof body === 'string' ? bytesOf(body) : body, { nosniff }).essence
const kindOf = (header: string | null, body: string | Uint8Array = ''): string =>
  sniffMediaType(header, typeof body === 'string' ? bytesOf(body) : body).kind

const UNKNOWN = [null, '', 'bogus', '*/*', 'unknown/unknown', 'Application/Unknown', '/html']

describe('a body of unknown type', () => {
  const tags = '!DOCTYPE HTML|HTML|HEAD|SCRIPT|IFRAME|H1|DIV|FONT|TABLE|A|STYLE|TITLE|B|BODY|BR|P|!--'.split('|')
  test.each(UNKNOWN)('is looked at when the header is %j', (header) => {
    for (const tag of tags) {
      for (const written of [tag, tag.toLowerCase()]) {
        expect(typeOf(header, `<${written} `)).toBe('text/html')
        expect(typeOf(header, `\t\n\f\r <${written}>`)).toBe('text/html')
        expect(typeOf(header, `<${written}`)).toBe('text/plain')
        expect(typeOf(header, `<${written}x`)).toBe('text/plain')
        expect(typeOf(header, `<${written}\n`)).toBe('text/plain')
        expect(typeOf(header, `<${written}>`, true)).toBe('text/plain')
      }
    }
    expect(typeOf(header, ' <?xml')).toBe('text/xml')
    expect(typeOf(header, ' <?XML')).toBe('text/plain')
    expect(typeOf(header, '%PDF-1.7')).toBe('application/pdf')
    expect(typeOf(header, '%PDF-1.7', true)).toBe('text/plain')
    expect(typeOf(header, ' %PDF-1.7')).toBe('text/plain')
  })

  test.each([
    ['PostScript', '25 21 50 53 2D 41 64 6F 62 65 2D', 'application/postscript'],
    ['UTF-16 text', 'FE FF 00 41', 'text/plain'],
    ['little-endian UTF-16 text', 'FF FE 41 00', 'text/plain'],
    ['UTF-8 text with a mark and a NUL', 'EF BB BF 00', 'text/plain'],
    ['a mark alone', 'EF BB BF', 'text/plain'],
    ['an icon', '00 00 01 00', 'image/x-icon'],
    ['a cursor', '00 00 02 00', 'image/x-icon'],
    ['a bitmap', '42 4D', 'image/bmp'],
    ['GIF', '47 49 46 38 39 61', 'image/gif'],
    ['WebP', '52 49 46 46 01 02 03 04 57 45 42 50 56 50', 'image/webp'],
    ['WebP that breaks off', '52 49 46 46 00 00 00 00 57 45 42 50', 'application/octet-stream'],
    ['PNG', '89 50 4E 47 0D 0A 1A 0A', 'image/png'],
    ['JPEG', 'FF D8 FF E0 00', 'image/jpeg'],
    ['AIFF', '46 4F 52 4D 00 00 00 00 41 49 46 46', 'audio/aiff'],
    ['MP3 with a tag', '49 44 33', 'audio/mpeg'],
    ['Ogg', '4F 67 67 53 00', 'application/ogg'],
    ['Ogg that breaks off', '4F 67 67 53', 'text/plain'],
    ['MIDI', '4D 54 68 64 00 00 00 06', 'audio/midi'],
    ['AVI', '52 49 46 46 00 00 00 00 41 56 49 20', 'video/avi'],
    ['WAVE', '52 49 46 46 00 00 00 00 57 41 56 45', 'audio/wave'],
    ['MP4', '00 00 00 10 66 74 79 70 6D 70 34 32 00 00 00 00', 'video/mp4'],
    ['MP4 by a later brand', '00 00 00 18 66 74 79 70 69 73 6F 6D 00 00 00 00 6D 70 34 31 00 00 00 00', 'video/mp4'],
    ['a box of another brand', '00 00 00 10 66 74 79 70 61 76 69 66 00 00 00 00', 'application/octet-stream'],
    ['a box larger than the body', '00 00 01 10 66 74 79 70 6D 70 34 32', 'application/octet-stream'],
    ['WebM', '1A 45 DF A3 81 42 82 84 77 65 62 6D', 'video/webm'],
    ['Matroska', '1A 45 DF A3 81 42 82 84 6D 61 74 72', 'application/octet-stream'],
    ['gzip', '1F 8B 08', 'application/x-gzip'],
    ['zip', '50 4B 03 04', 'application/zip'],
    ['rar', '52 61 72 21 1A 07 00', 'application/x-rar-compressed'],
    ['a control character', '41 42 0E', 'application/octet-stream'],
    ['an escape sequence', '1B 5B 31 6D', 'text/plain'],
    ['no ASCII at all', '80 FF A0', 'text/plain'],
    ['nothing', '', 'text/plain'],
  ])('%s', (_, digits, essence) => {
    expect(sniffMediaType(null, hex(digits))).toMatchObject({ essence, isSniffed: true })
  })

  test('is told from its first 1445 bytes', () => {
    expect(typeOf(null, 'x'.repeat(1445) + '\0')).toBe('text/plain')
    expect(typeOf(null, 'x'.repeat(1444) + '\0')).toBe('application/octet-stream')
    expect(typeOf(null, ' '.repeat(1440) + '<html>')).toBe('text/plain')
  })
})

describe('a type that the server states', () => {
  test.each([
    ['text/plain; charset=utf-8', '<!DOCTYPE html><html>'],
    ['text/plain', '<!DOCTYPE html><html>'],
    ['text/plain;charset=utf-8', '\0\u0001'],
    ['application/octet-stream', '<html>'],
    ['application/xml', '<html>'],
    ['image/svg+xml', '\x89PNG'],
    ['application/json', '<html>'],
    ['text/css', '%PDF-'],
    ['image/png', '<html>'],
  ])('stands: %s', (header, body) => {
    const supplied = header.split(';')[0]
    expect(sniffMediaType(header, bytesOf(body))).toMatchObject({ essence: supplied, isSniffed: false })
  })

  test.each([
    'text/plain',
    'text/plain; charset=ISO-8859-1',
    'text/plain; charset=iso-8859-1',
    'text/plain; charset=UTF-8',
    'text/html, text/plain',
  ])('is doubted as the default of a server: %s', (header) => {
    expect(typeOf(header, 'text \x1b')).toBe('text/plain')
    expect(typeOf(header, 'text \0')).toBe('application/octet-stream')
    expect(typeOf(header, 'text \0', true)).toBe('text/plain')
    expect(typeOf(header, hex('FF FE 00 00'))).toBe('text/plain')
    expect(typeOf(header, hex('EF BB BF 00'))).toBe('text/plain')
    expect(typeOf(header, '%PDF-')).toBe('text/plain')
  })

  test('gives way to the bytes among images, and among sound and video', () => {
    expect(typeOf('image/png', hex('FF D8 FF'))).toBe('image/jpeg')
    expect(typeOf('image/png', hex('FF D8 FF'), true)).toBe('image/png')
    expect(typeOf('video/mp4', hex('1A 45 DF A3 81 42 82 84 77 65 62 6D'))).toBe('video/webm')
    expect(typeOf('image/png', hex('50 4B 03 04'))).toBe('image/png')
  })

  test.each([
    ['<rss version="2.0">', 'application/rss+xml'],
    ['\ufeff \n<!-- <html> --><?xml?><!DOCTYPE x [<!ENTITY a ">">]><rss>', 'application/rss+xml'],
    ['<feed xmlns="http://www.w3.org/2005/Atom">', 'application/atom+xml'],
    [
      '<rdf:RDF xmlns="http://purl.org/rss/1.0/" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">',
      'application/rss+xml',
    ],
    ['<rdf:RDF xmlns="http://purl.org/rss/1.0/">', 'text/html'],
    ['<html><rss>', 'text/html'],
    ['x<rss>', 'text/html'],
    ['<RSS>', 'text/html'],
    ['<!-- <rss>', 'text/html'],
    ['', 'text/html'],
  ])('is HTML, or a feed in its place: %j', (body, essence) => {
    expect(sniffMediaType('text/html; charset=utf-8', bytesOf(body))).toMatchObject({
      essence,
      isSniffed: essence !== 'text/html',
    })
    expect(typeOf('text/html', body, true)).toBe('text/html')
  })

  test.each([
    ['text/html, text/plain;charset=x', 'text/plain'],
    ['text/plain;charset=x, */*', 'text/plain'],
    ['text/html,', 'text/html'],
    [',text/html', 'text/html'],
    ['text/html;x=",text/plain;a=b"', 'text/html'],
    ['TEXT/HTML ; charset="', 'text/html'],
    [' text/xml\t', 'text/xml'],
    ['image/jpeg;a=b, text/html/x', 'image/jpeg'],
  ])('of several the last that can be read counts: %j', (header, essence) => {
    expect(typeOf(header, 'x')).toBe(essence)
  })
})

test('nosniff is the first value of its header', () => {
  expect(['nosniff', ' NoSniff ', 'nosniff, x'].map(isNosniff)).toEqual([true, true, true])
  expect([null, '', 'x, nosniff', "'nosniff'", ',nosniff'].map(isNosniff)).toEqual([false, false, false, false, false])
})

test.each([
  ['text/html', '', 'html'],
  ['application/xhtml+xml', '', 'html'],
  ['application/xml', '<?xml version="1.0"?><!DOCTYPE html><html>', 'html'],
  ['text/xml', '<x>', 'xml'],
  ['text/xml', '', 'xml'],
  ['text/xml', '<urlset xmlns="">', 'sitemap'],
  ['application/xml', '<!-- made by --><s:sitemapindex>', 'sitemap'],
  ['application/xml', `<!--${' '.repeat(5000)}--><urlset>`, 'sitemap'],
  ['application/xml', '<rss>', 'feed'],
  ['application/xml', '<rdf:RDF xmlns="http://my.netscape.com/rdf/simple/0.9/">', 'feed'],
  ['application/rdf+xml', '<rdf:RDF>', 'xml'],
  ['application/atom+xml', '', 'feed'],
  ['application/feed+json', '', 'feed'],
  ['application/ld+json', '', 'json'],
  ['text/markdown', '', 'text'],
  ['text/csv', '', 'text'],
  ['text/css', '', 'other'],
  ['text/javascript', '', 'other'],
  ['application/javascript', '', 'other'],
  ['application/pdf', '', 'pdf'],
  ['image/svg+xml', '<svg>', 'image'],
  ['font/woff2', '', 'font'],
  ['application/zip', '', 'archive'],
  ['application/octet-stream', '', 'other'],
  [null, '<html>', 'html'],
  [null, 'plain', 'text'],
])('%s with %j is %s to a crawler', (header, body, kind) => {
  expect(kindOf(header, body)).toBe(kind)
})

test('the first element is found in UTF-16 too', () => {
  const xml = '<?xml version="1.0"?><urlset>'
  expect(kindOf('text/xml', Buffer.from(xml, 'utf16le'))).toBe('sitemap')
  expect(kindOf('text/xml', Buffer.from(`\ufeff${xml}`, 'utf16le').swap16())).toBe('sitemap')
})

test('never throws, and always names a type', () => {
  const part = fc.constantFrom('text/html', 'text/plain', '*/*', ';', ',', '"', '\\', '=', ' ', 'charset', '\0', '/')
  fc.assert(
    fc.property(fc.array(part), fc.uint8Array({ maxLength: 60 }), fc.boolean(), (parts, body, nosniff) => {
      expect(sniffMediaType(parts.join(''), body, { nosniff }).essence).toMatch(/^[^/\s]+\/[^/\s]+$/)
    }),
  )
})
