/** One URL's record in a file of records. */
import { fileLines, parseObject } from '../base/index.ts'

/** The last record of one URL, which may have one for each of its visits; undefined when the file has none. */
export function findLastRecord(path: string, end: number, url: string): Record<string, unknown> | undefined {
  const needle = Buffer.from(`"url":${JSON.stringify(url)},`)
  let last: Record<string, unknown> | undefined
  for (const { bytes } of fileLines(path, end)) {
    if (!bytes.includes(needle)) continue
    const record = parseObject(bytes)
    if (record?.['url'] === url) last = record
  }
  return last
}
