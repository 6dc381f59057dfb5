import { type RedisCommand, type RedisReply, setCommand } from './redis-command.ts'

/**
 * Keys owned by this proxy that show whether Redis still holds what was written. A mark known to exist is only
 * refreshed, never created. So a lost mark stays lost until we see it, however late a command takes effect and whatever
 * becomes of its reply.
 */
export class RedisMarks {
  readonly #keys: readonly string[]
  readonly #seconds: number
  readonly #known = new Set<string>()

  constructor(keys: readonly string[], seconds: number) {
    this.#keys = keys
    this.#seconds = seconds
  }

  /** Whether a mark still has to be created. */
  get isIncomplete(): boolean {
    return this.#known.size < this.#keys.length
  }

  /** Refreshes the known marks and creates the others. `read` returns whether this reply created any. */
  ask(): { readonly commands: RedisCommand[]; read(replies: readonly RedisReply[]): boolean } {
    const kept = this.#keys.map((key) => this.#known.has(key))
    return {
      commands: this.#keys.map((key, i) => setCommand(key, '1', this.#seconds, ...(kept[i] ? (['XX'] as const) : []))),
      read: (replies) => {
        let hasMade = false
        for (const [i, key] of this.#keys.entries()) {
          const reply = replies[i]!
          if ('error' in reply) continue
          if (kept[i] && reply.value === null) this.#known.delete(key)
          else if (!kept[i]) {
            this.#known.add(key)
            hasMade = true
          }
        }
        return hasMade
      },
    }
  }
}
