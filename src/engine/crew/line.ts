/**
 * One end of the talk between a crawl and one of its threads: calls, which are answered, and notes, which are not. All
 * that is said in one turn of the event loop goes over as one message, in the order in which it was said.
 *
 * It leaves to others what is said. An error that a call comes to arrives as one on the other side, a TiptoeError as such.
 */
import type { MessagePort, Worker } from 'node:worker_threads'
import { TiptoeError, type ErrorCode } from '../../model/index.ts'

/** The other side, as each of the two sees it. */
type Port = Pick<MessagePort, 'postMessage' | 'on'> | Pick<Worker, 'postMessage' | 'on'>

/** What can be said to this end, by name. The answer to a call may be a promise; that to a note is not looked at. */
export type Handlers = Readonly<Record<string, (said: never) => unknown>>

export interface Line {
  /** Rejects with what the other side threw, or when the line is cut. */
  call<Answer>(name: string, said?: unknown): Promise<Answer>
  tell(name: string, said?: unknown): void
  /** Sends what waits, now. */
  flush(): void
  /** The other side is gone: whoever waits for an answer gets this error. */
  cut(error: unknown): void
}

const CALL = 0
const NOTE = 1
const ANSWER = 2
const ERROR = 3

type Entry = readonly [kind: number, id: number, name: string, said: unknown]

interface Waiting {
  resolve(value: unknown): void
  reject(error: unknown): void
}

export function openLine(port: Port, handlers: Handlers, beforeSending?: () => void): Line {
  const waiting = new Map<number, Waiting>()
  let outbox: Entry[] = []
  let ids = 0
  let isCut = false

  const flush = (): void => {
    if (outbox.length === 0 || isCut) return
    const entries = outbox
    outbox = []
    beforeSending?.()
    port.postMessage(entries)
  }
  const send = (entry: Entry): void => {
    if (outbox.length === 0) setImmediate(flush)
    outbox.push(entry)
  }
  const answer = (id: number, value: unknown): void => send([ANSWER, id, '', value])
  const answerError = (id: number, error: unknown): void => send([ERROR, id, '', plainError(error)])

  const hear = ([kind, id, name, said]: Entry): void => {
    if (kind === ANSWER || kind === ERROR) {
      const caller = waiting.get(id)
      waiting.delete(id)
      if (kind === ANSWER) caller?.resolve(said)
      else caller?.reject(errorFrom(said as PlainError))
      return
    }
    const handle = handlers[name] as ((said: unknown) => unknown) | undefined
    if (handle === undefined) throw new Error(`nobody here hears ${name}`)
    if (kind === NOTE) return void handle(said)
    try {
      const answered = handle(said)
      if (answered instanceof Promise) {
        answered.then(
          (value) => answer(id, value),
          (error: unknown) => answerError(id, error),
        )
      } else answer(id, answered)
    } catch (error) {
      answerError(id, error)
    }
  }
  port.on('message', (entries: readonly Entry[]) => {
    for (const entry of entries) if (!isCut) hear(entry)
  })

  return {
    call<Answer>(name: string, said?: unknown) {
      return new Promise<Answer>((resolve, reject) => {
        if (isCut) return reject(new Error('the line is cut'))
        ids += 1
        waiting.set(ids, { resolve, reject })
        send([CALL, ids, name, said])
      })
    },
    tell(name, said) {
      if (!isCut) send([NOTE, 0, name, said])
    },
    flush,
    cut(error) {
      isCut = true
      for (const { reject } of waiting.values()) reject(error)
      waiting.clear()
    },
  }
}

/** An error as it crosses from one thread to another. */
export interface PlainError {
  readonly message: string
  readonly stack: string | undefined
  readonly code?: ErrorCode
  readonly hint?: string | undefined
}

export function plainError(error: unknown): PlainError {
  if (!(error instanceof Error)) return { message: String(error), stack: undefined }
  const { message, stack } = error
  return error instanceof TiptoeError ? { message, stack, code: error.code, hint: error.hint } : { message, stack }
}

export function errorFrom({ message, stack, code, hint }: PlainError): Error {
  const error =
    code === undefined ? new Error(message) : new TiptoeError(code, message, hint === undefined ? {} : { hint })
  if (stack !== undefined) error.stack = stack
  return error
}
