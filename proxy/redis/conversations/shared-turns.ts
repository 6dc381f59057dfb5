import type { TurnKey } from '#index/conversation-store.ts'

/** Turns that another proxy may have sent, or this one before a restart. */
export interface SharedTurns {
  /** whether fetching is worthwhile */
  readonly isUp: boolean
  /** Puts those it finds into the store. Never rejects, and never takes more than 5 ms. */
  fetch(turns: ReadonlySet<TurnKey>): Promise<void>
}
