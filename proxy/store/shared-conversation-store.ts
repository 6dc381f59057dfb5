import { LRUCache } from 'lru-cache'
import { digestOf } from '#index/context-block.ts'
import type { ConversationStore, SentTurn, TurnKey } from '#index/conversation-store.ts'
import {
  evalCommand,
  getCommand,
  type RedisCommand,
  type RedisReply,
  setCommand,
} from '../redis/connection/redis-command.ts'
import type { RedisAccess } from '../redis/connection/redis-connection.ts'
import { WriteBehind } from '../redis/connection/write-behind.ts'
import { turnRedisKey } from '../redis/redis-keys.ts'
import type { MemoryConversationStore } from './memory-conversation-store.ts'
import type { SharedTurns } from './shared-turns.ts'
import { readTurnRecord, toTurnRecord } from './turn-record.ts'
import { forgetTurn, rememberExplicitTurn } from './turn-scripts.ts'

export interface SharedConversationStoreOptions {
  /** what requests see: turns that Redis has are put into it before they are asked for */
  readonly memory: MemoryConversationStore
  readonly redis: RedisAccess
  readonly namespace: string
  readonly ttlSeconds: number
  /** names this proxy's life, apart from all others */
  readonly proxy: string
  /** milliseconds, monotonic */
  readonly now: () => number
  /** counts what Redis held and could not be relied on, or did not take */
  readonly onFault: (reason: 'redis_value' | 'redis_write') => void
}

/** What is to be done in Redis: `set` what memory holds, `restore` it where Redis has none, or take back a record. */
type Change = 'set' | 'restore' | { readonly takeBack: string }

/** What was written last for a turn: `digest` of the turn, `head` of its record. */
interface Written {
  digest: string
  readonly head: string
  readonly at: number
}

/** More than fit into memory. */
const maxWaiting = 1 << 20
const maxWritten = 1 << 17
/** A request asks for the turns of its history at most so many at a time; they are far apart in a history of that length. */
const maxFetched = 4_096

/** A conversation store in memory that proxies share through Redis: written behind, and read ahead by `fetch`. */
export class SharedConversationStore implements ConversationStore, SharedTurns {
  readonly #options: SharedConversationStoreOptions
  readonly #memory: MemoryConversationStore
  readonly #writes: WriteBehind<TurnKey, Change>
  readonly #written = new LRUCache<TurnKey, Written>({ max: maxWritten })
  #nonces = 0

  constructor(options: SharedConversationStoreOptions) {
    this.#options = options
    this.#memory = options.memory
    this.#writes = new WriteBehind<TurnKey, Change>(options.redis, {
      maxKeys: maxWaiting,
      toCommand: (turn, change) => this.#toCommand(turn, change),
      onReply: (turn, change, reply, isRepeated) => this.#heard(turn, change, reply, isRepeated),
      onGivenUp: () => this.#restoreAll(),
    })
    options.redis.listen({ onUp: () => this.#writes.wake(), onLost: () => this.#restoreAll() })
  }

  get isUp(): boolean {
    return this.#options.redis.isUp
  }

  /** Turns that are still to be written. */
  get waiting(): number {
    return this.#writes.size
  }

  recall(turn: TurnKey): SentTurn | undefined {
    return this.#memory.recall(turn)
  }

  remember(turn: TurnKey, sent: SentTurn): void {
    this.#memory.remember(turn, sent)
    this.#writes.put(turn, 'set')
  }

  forget(turn: TurnKey, sent: SentTurn): void {
    if (this.#memory.peek(turn) !== sent) return
    this.#memory.forget(turn, sent)
    const head = this.#written.get(turn)?.head
    this.#written.delete(turn)
    if (head === undefined) this.#writes.delete(turn)
    else this.#writes.put(turn, { takeBack: head })
  }

  async fetch(turns: ReadonlySet<TurnKey>): Promise<void> {
    const asked = [...turns].slice(-maxFetched)
    const adopt = (replies: readonly RedisReply[]): void => {
      for (const [i, turn] of asked.entries()) this.#adopt(turn, replies[i]!)
    }
    const commands = asked.map((turn) => getCommand(this.#keyOf(turn)))
    const replies = await this.#options.redis.read(commands, adopt)
    if (replies) adopt(replies)
  }

  /** Writes what is still to be written, as far as that can be done in time. */
  close(milliseconds: number): Promise<void> {
    return this.#writes.close(milliseconds, this.#options.now)
  }

  /** What this proxy has sent itself meanwhile goes before. */
  #adopt(turn: TurnKey, reply: RedisReply): void {
    if ('error' in reply || typeof reply.value !== 'string' || this.#memory.peek(turn)) return
    // it was taken back, and Redis has not heard of it yet
    if (this.#writes.peek(turn) !== undefined) return
    const sent = readTurnRecord(turn, reply.value)
    if (sent) this.#memory.remember(turn, sent)
    else this.#options.onFault('redis_value')
  }

  #restoreAll(): void {
    for (const turn of this.#written.keys()) this.#disbelieve(turn)
    for (const turn of this.#memory.keys()) if (this.#writes.peek(turn) === undefined) this.#writes.put(turn, 'restore')
  }

  #toCommand(turn: TurnKey, change: Change): RedisCommand | undefined {
    const key = this.#keyOf(turn)
    if (typeof change === 'object') return evalCommand(forgetTurn, key, change.takeBack)
    const sent = this.#memory.peek(turn)
    if (!sent) return undefined
    const { ttlSeconds, now } = this.#options
    const digest = digestOf(JSON.stringify(sent))
    const written = this.#written.get(turn)
    // it lives on for a good while: every request repeats its history
    if (written?.digest === digest && now() - written.at < (ttlSeconds * 1000) / 4) return undefined
    const record = toTurnRecord(turn, sent, this.#nextNonce())
    if (!record) return undefined
    this.#written.set(turn, { digest, head: record.head, at: now() })
    if (sent.kind !== 'explicit')
      return setCommand(key, record.text, ttlSeconds, ...(change === 'restore' ? (['NX'] as const) : []))
    const ambiguous = toTurnRecord(turn, { kind: 'ambiguous' }, this.#nextNonce())!
    return evalCommand(rememberExplicitTurn, key, `${record.kind} `, record.text, ambiguous.text, ttlSeconds)
  }

  #heard(turn: TurnKey, change: Change, reply: RedisReply, isRepeated: boolean): void {
    if ('error' in reply) {
      this.#disbelieve(turn)
      if (!isRepeated) this.#options.onFault('redis_write')
    } else if (typeof change === 'string' && reply.value === 1) {
      // another proxy has sent the very same words with other blocks beside them
      this.#memory.remember(turn, { kind: 'ambiguous' })
    }
  }

  /** Whether Redis holds what was written is not known; what is there may still be taken back. */
  #disbelieve(turn: TurnKey): void {
    const written = this.#written.peek(turn)
    if (written) written.digest = ''
  }

  #keyOf(turn: TurnKey): string {
    return turnRedisKey(this.#options.namespace, turn)
  }

  #nextNonce(): string {
    this.#nonces += 1
    return `${this.#options.proxy}.${this.#nonces}`
  }
}
