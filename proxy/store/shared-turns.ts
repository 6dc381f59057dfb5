import type { TurnKey } from '#index/conversation-store.ts'

/** Turns that another proxy, or this one before it was started anew, may have sent. */
export interface SharedTurns {
  /** whether it is worth to ask */
  readonly isUp: boolean
  /** Puts what it finds of them into the store; never rejects, and never takes more than 5 ms. */
  fetch(turns: ReadonlySet<TurnKey>): Promise<void>
}
