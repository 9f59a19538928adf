/** Bases and references of every kind, to try on whoever resolves links. */
import fc from 'fast-check'

export const BASES: readonly [string, ...string[]] = [
  'https://a.test/',
  'https://a.test/x/y/page.html?q=1',
  'https://a.test/x/y/other.html',
  'https://a.test/x/y/',
  'https://a.test/x/page;v=1',
  'http://a.test/x/y/page.html',
  'https://a.test:8080/x/y/page.html',
  'https://user:pass@a.test/x/y/page.html#f',
  'https://a.test/x/../y/./page.html',
  'HTTPS://A.test/x/%2e/y',
  'ftp://a.test/x/y',
  'data:text/html,x',
  'nonsense',
]

const pieces =
  '/ // \\ . .. ./ ../ ? # : %2e % @ a b.html c ~ = | ^ http: https: HTTP: http:// https:// https:/ mailto: ' +
  'javascript: ht tp: a.test & é \u007f \u0001 a-name-of-some-length.html'
const piece = fc.constantFrom(' ', '\t', '\n', ...pieces.split(' '))
const reference = fc.array(piece, { maxLength: 6 }).map((some) => some.join(''))

/** Links one after the other, each with the base that it stands on. */
export const links = fc.array(fc.tuple(fc.constantFrom(...BASES), reference), { maxLength: 20 })
