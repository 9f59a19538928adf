/**
 * Where new work waits until the consumer of the pages is ready for more, so that a slow consumer slows the crawl. All
 * who wait at once wait for one answer. A consumer that has stopped reading must not keep the crawl from stopping: once
 * the gate is opened, nobody waits any more.
 */

export interface ConsumerGate {
  /** Undefined when there is nobody to wait for. Rejects when the consumer does. */
  pass(): Promise<void> | undefined
  /** Lets go of all who wait, and of all who come. */
  open(): void
}

export function createConsumerGate(readyForMore: (() => Promise<void>) | undefined): ConsumerGate {
  let isOpen = readyForMore === undefined
  let waiting: Promise<void> | undefined
  let letGo = (): void => {}

  const wait = (ready: Promise<void>): Promise<void> =>
    new Promise<void>((resolve, reject) => {
      letGo = resolve
      ready.then(resolve, reject)
    }).finally(() => {
      waiting = undefined
    })
  return {
    pass() {
      if (isOpen || readyForMore === undefined) return undefined
      return (waiting ??= wait(readyForMore()))
    },
    open() {
      isOpen = true
      letGo()
    },
  }
}
