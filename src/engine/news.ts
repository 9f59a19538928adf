/** Sleep that ends when there is news. News that comes while nobody sleeps is not lost: it ends the next sleep at once. */
import type { Clock } from '../base/index.ts'

export interface News {
  tell(): void
  /** Until there is news or `until` has come; null for news alone. */
  wait(until: number | null): Promise<void>
}

export function createNews(clock: Clock): News {
  let isTold = false
  const remember = (): void => {
    isTold = true
  }
  let tell = remember
  return {
    tell: () => tell(),
    wait: (until) =>
      new Promise((resolve) => {
        if (isTold) {
          isTold = false
          resolve()
          return
        }
        const cancel = until === null ? undefined : clock.timer(Math.ceil(until - clock.now()), () => tell())
        tell = () => {
          cancel?.()
          tell = remember
          resolve()
        }
      }),
  }
}
