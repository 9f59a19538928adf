/**
 * What a response says, from the reader; or how the task ends without it. A document that breaks its reader is fetched
 * and read again, since it may be another one by then, but not often: then it is given up, with the reason.
 */
import type { FetchResponse } from '../../fetch/index.ts'
import type { Task } from '../../model/index.ts'
import { TELLING_HEADERS, type DocumentInput, type ReadingOf, type TellingHeaders } from '../../reading/index.ts'
import type { TaskContext, TaskResult } from './context.ts'
import { failed } from './records.ts'
import { retryLater } from './retry.ts'

/** Each may cost a thread and its deadline. At most, whatever `attempts` says. */
const MOST_ATTEMPTS = 3

export type Interpretation<Input extends DocumentInput> =
  | { readonly reading: ReadingOf<Input> }
  | { readonly reading?: undefined; readonly result: TaskResult }

export async function interpret<Input extends DocumentInput>(
  input: Input,
  task: Task,
  context: TaskContext,
): Promise<Interpretation<Input>> {
  const result = await context.reader.read(input, context.signal)
  if (result.kind === 'read') return { reading: result.reading }
  if (result.kind === 'aborted') return { result: { outcome: { kind: 'returned' } } }
  return { result: unreadable(task, result.detail, context) }
}

/** How a task ends whose document has broken its reader. */
export function unreadable(
  task: Task,
  detail: string,
  context: Pick<TaskContext, 'settings' | 'clock' | 'rng'>,
): TaskResult {
  const again = task.attempts + 1 < MOST_ATTEMPTS ? retryLater(task, context) : undefined
  return again ?? failed(task, { code: 'parse', detail }, context)
}

export function tellingHeaders({ headers }: Pick<FetchResponse, 'headers'>): TellingHeaders {
  const telling: { -readonly [Name in keyof TellingHeaders]: TellingHeaders[Name] } = {}
  for (const name of TELLING_HEADERS) {
    const values = headers.all(name)
    if (values.length > 0) telling[name] = values
  }
  return telling
}
