/** One typed bus for one crawl. A listener that throws is the caller's bug and surfaces where it is emitted. */
export interface EventBus<Events> {
  /** Returns how to stop listening. */
  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): () => void
  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void
}

export function createEventBus<Events>(): EventBus<Events> {
  const listeners = new Map<keyof Events, Set<(event: never) => void>>()
  return {
    on(name, listener) {
      const set = listeners.get(name) ?? new Set()
      listeners.set(name, set)
      set.add(listener)
      return () => void set.delete(listener)
    },
    emit(name, event) {
      for (const listener of listeners.get(name) ?? []) listener(event as never)
    },
  }
}
