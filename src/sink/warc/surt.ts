/**
 * The key by which an index of archives is sorted, so that what belongs together stands together:
 * `https://www.example.com/a?b` → `com,example)/a?b`. It is the key that the tools of Webrecorder look a URL up by.
 */
export function surt(url: string): string {
  const plain = url.replace(/^(https?:\/\/)www\d*\./, '$1').toLowerCase()
  const parsed = /^https?:/.test(plain) ? URL.parse(plain) : null
  if (parsed === null) return url
  const { hostname, port, pathname, search } = parsed
  const host = hostname.split('.').toReversed().join(',')
  const query = search === '' ? '' : `?${search.slice(1).split('&').toSorted().join('&')}`
  return `${host}${port === '' ? '' : `:${port}`})${pathname}${query}`
}
