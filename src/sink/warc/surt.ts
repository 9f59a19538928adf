/**
 * The key by which an index of archives is sorted, so that what belongs together stands together:
 * `https://www.example.com/a?b` → `com,example)/a?b`. It is the key that the tools of Webrecorder look a URL up by.
 */
export function surt(url: string): string {
  const parts = PLAIN.exec(url)
  if (parts !== null) {
    const [, host = '', port = '', path = '', query = ''] = parts
    return `${reversed(host)}${port})${path.toLowerCase()}${sorted(query.toLowerCase())}`
  }
  const plain = url.replace(/^(https?:\/\/)www\d*\./, '$1').toLowerCase()
  const parsed = /^https?:/.test(plain) ? URL.parse(plain) : null
  if (parsed === null) return url
  const { hostname, port, pathname, search } = parsed
  return `${reversed(hostname)}${port === '' ? '' : `:${port}`})${pathname}${sorted(search)}`
}

/**
 * Nearly every URL: nothing that a parser would write in another way. Hosts are in lower case and no numbers, or all four
 * of an address; ports are not those that go without saying; no segment of the path is of dots alone.
 */
const PLAIN =
  /^https?:\/\/(?:www\d*\.)?((?:[a-z\d-]+\.)*[a-z][a-z\d-]*|(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2}))(:(?!80\b|443\b)[1-9]\d{0,4})?((?:\/(?!\.)[\w.~!$&'()*+,;=:@-]*)+)(\?[\w.~!$&()*+,;=:@/?-]+)?$/

const reversed = (host: string): string => host.split('.').toReversed().join(',')

/** `search` is empty, or begins with its question mark. */
const sorted = (search: string): string =>
  search.includes('&') ? `?${search.slice(1).split('&').toSorted().join('&')}` : search
