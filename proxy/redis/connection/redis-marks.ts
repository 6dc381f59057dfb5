import { type RedisCommand, type RedisReply, setCommand } from './redis-command.ts'

/**
 * Keys of this proxy's own by which it knows that Redis still holds what it was given. A mark that is known to be there is
 * only kept alive, never made: however late a command takes effect, and whatever becomes of its answer, a mark that was
 * lost stays so until that has been seen.
 */
export class RedisMarks {
  readonly #keys: readonly string[]
  readonly #seconds: number
  readonly #known = new Set<string>()

  constructor(keys: readonly string[], seconds: number) {
    this.#keys = keys
    this.#seconds = seconds
  }

  /** Whether a mark is still to be made. */
  get isIncomplete(): boolean {
    return this.#known.size < this.#keys.length
  }

  /** Keeps the marks alive that are known, and makes the others; `read` says whether some were made, once. */
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
