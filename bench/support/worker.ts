/**
 * A script in a process of its own that answers one question after another: its memory is its own, and it can be killed.
 *
 * The parent starts it and asks; the script serves its verbs with `serve`.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'

export interface Worker<Verbs> {
  ask<Name extends keyof Verbs & string>(verb: Name, question: Question<Verbs, Name>): Promise<Answer<Verbs, Name>>
  /** Called with whatever the worker tells while it works on a question. */
  onNews(listener: (news: unknown) => void): void
  /** Ends it at once and without warning, as a power cut would; resolves when it is gone. */
  kill(): Promise<void>
  /** Lets it end; resolves when it is gone. */
  stop(): Promise<void>
}

type Verb = (question: never) => unknown
type Question<Verbs, Name extends keyof Verbs> = Verbs[Name] extends (question: infer Q) => unknown ? Q : never
type Answer<Verbs, Name extends keyof Verbs> = Verbs[Name] extends Verb ? Awaited<ReturnType<Verbs[Name]>> : never

type Message = { readonly answer: unknown } | { readonly news: unknown } | { readonly failed: string }

export function startWorker<Verbs>(script: string, words: readonly string[]): Worker<Verbs> {
  const child = fork(script, words)
  const gone = once(child, 'exit')
  // It may be too busy to see that nobody waits for it any more.
  const end = (): void => void child.kill('SIGKILL')
  process.on('exit', end)
  child.on('exit', () => process.off('exit', end))
  let listener = (_news: unknown): void => {}
  let waiting: { resolve(answer: never): void; reject(error: Error): void } | undefined
  child.on('message', (message: Message) => {
    if ('news' in message) return listener(message.news)
    if ('failed' in message) waiting?.reject(new Error(message.failed))
    else waiting?.resolve(message.answer as never)
    waiting = undefined
  })
  child.on('exit', (code, signal) => waiting?.reject(new Error(`${script} ended with ${signal ?? code}`)))
  return {
    ask(verb, question) {
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject }
        child.send({ verb, question })
      })
    },
    onNews(listen) {
      listener = listen
    },
    async kill() {
      waiting = undefined
      child.kill('SIGKILL')
      await gone
    },
    async stop() {
      if (child.connected) child.disconnect()
      await gone
    },
  }
}

/** In the script: answers what the parent asks until it lets go. */
export function serve(verbs: Record<string, Verb>): void {
  process.on('message', ({ verb, question }: { verb: string; question: unknown }) => {
    const answer = (async () => verbs[verb]?.(question as never))()
    answer.then(
      (answer) => process.send?.({ answer } satisfies Message),
      (error: Error) => process.send?.({ failed: error.stack ?? error.message } satisfies Message),
    )
  })
}

/** In the script: tells the parent something on the way; resolves when it is on its way. */
export function tell(news: unknown): Promise<void> {
  return new Promise((resolve) => process.send?.({ news } satisfies Message, () => resolve()))
}
