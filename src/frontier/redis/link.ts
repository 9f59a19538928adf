/**
 * The way to the servers, as the Redis home needs it: one of our scripts is run on the node that has the keys, and its
 * reply comes back. Whether that is one server or a cluster, how connections are made anew, and how long to wait for a
 * server that is away is the link's business (connection.ts); what a script means is not.
 */

/** A script as its file has it, with what it shares with others in front. */
export interface Script {
  /** The verb, for messages. */
  readonly name: string
  readonly text: string
  readonly sha: string
}

/** What scripts answer: text, whole numbers, lists of these, or nothing. */
export type Reply = string | number | null | readonly Reply[]

export interface RedisLink {
  /**
   * Runs a script. All keys share one hash tag. Waits while the servers cannot be reached, and sends the script again
   * when its reply was lost: scripts give the same answer to the same request, so that does no harm. Rejects with a
   * `TiptoeError` of code `store` for what waiting does not mend (wrong password, out of memory for longer than it is
   * patient, state that is lost), and when the link is closed.
   */
  run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<Reply>
  /** Told each time that the servers went out of reach or came back; at most once for each such change. */
  onTrouble(listener: (trouble: LinkTrouble) => void): void
  close(): Promise<void>
}

export interface LinkTrouble {
  /** `lost`: nothing can be read or written, work pauses. `back`: it goes on. */
  readonly kind: 'lost' | 'back'
  /** In words, without secrets. */
  readonly detail: string
}
