import { LRUCache } from 'lru-cache'
import { digestOf } from '#index/context-block.ts'
import type { ConversationStore, SentTurn, TurnKey } from '#index/conversation-store.ts'
import type { MemoryConversationStore } from '../../prompt/turns/memory-conversation-store.ts'
import { readTurnRecord, toTurnRecord } from '../../prompt/turns/turn-record.ts'
import { evalCommand, getCommand, type RedisCommand, type RedisReply, setCommand } from '../connection/redis-command.ts'
import { WriteBehind } from '../connection/write-behind.ts'
import { turnRedisKey } from '../redis-keys.ts'
import type { SharedPartOptions } from '../shared-part.ts'

interface SharedConversationStoreOptions extends SharedPartOptions {
  /** what requests see: turns from Redis are put into it before they are needed */
  readonly memory: MemoryConversationStore
  /** unique id of this run of this proxy */
  readonly proxy: string
  /** milliseconds, monotonic */
  readonly now: () => number
}

/** A change to make in Redis: `set` the turn in memory, `restore` it if Redis has none, or take back a record. */
type Change = 'set' | 'restore' | { readonly takeBack: string }

/** The last write for a turn: `digest` of the turn, `head` of its record. */
interface Written {
  digest: string
  readonly head: string
  readonly at: number
}

/** More than fit into the memory store. */
const maxWaiting = 1 << 20
const maxWritten = 1 << 17
/** How many turns of its history are fetched for a request at most. In a longer history, the oldest are left out. */
const maxFetched = 4_096

/** A conversation store in memory that proxies share through Redis. It writes behind, and reads ahead with `fetch`. */
export class SharedConversationStore implements ConversationStore {
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

  /** Whether fetching is worthwhile. */
  get isUp(): boolean {
    return this.#options.redis.isUp
  }

  /** The number of turns still to be written. */
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

  /**
   * Puts turns that another proxy has sent, or this one before a restart, into memory. Never rejects, and never takes more
   * than 5 ms.
   */
  async fetch(turns: ReadonlySet<TurnKey>): Promise<void> {
    const asked = [...turns].slice(-maxFetched)
    const adopt = (replies: readonly RedisReply[]): void => {
      for (const [i, turn] of asked.entries()) this.#adopt(turn, replies[i]!)
    }
    const commands = asked.map((turn) => getCommand(this.#keyOf(turn)))
    const replies = await this.#options.redis.read(commands, adopt)
    if (replies) adopt(replies)
  }

  /** Writes what it can within the given time, then stops. */
  close(milliseconds: number): Promise<void> {
    return this.#writes.close(milliseconds, this.#options.now)
  }

  /** Puts a turn from Redis into memory. A turn that this proxy has sent meanwhile takes precedence. */
  #adopt(turn: TurnKey, reply: RedisReply): void {
    if ('error' in reply || typeof reply.value !== 'string' || this.#memory.peek(turn)) return
    // it was taken back, and Redis does not know yet
    if (this.#writes.get(turn) !== undefined) return
    const sent = readTurnRecord(turn, reply.value)
    if (sent) this.#memory.remember(turn, sent)
    else this.#options.onFault('redis_value')
  }

  #restoreAll(): void {
    for (const turn of this.#written.keys()) this.#disbelieve(turn)
    for (const turn of this.#memory.keys()) if (this.#writes.get(turn) === undefined) this.#writes.put(turn, 'restore')
  }

  #toCommand(turn: TurnKey, change: Change): RedisCommand | undefined {
    const key = this.#keyOf(turn)
    if (typeof change === 'object') return evalCommand(forgetTurn, key, change.takeBack)
    const sent = this.#memory.peek(turn)
    if (!sent) return undefined
    const { ttlSeconds, now } = this.#options
    const digest = digestOf(JSON.stringify(sent))
    const written = this.#written.get(turn)
    // the record has most of its time to live left; without this, every request would rewrite its whole history
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
      // another proxy has sent the same words with other explicit blocks
      this.#memory.remember(turn, { kind: 'ambiguous' })
    }
  }

  /** Notes that Redis may not hold what was written. The record can still be taken back. */
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

/**
 * Stores a turn with explicit blocks in one step. If the same words were sent with other blocks before, it is unclear
 * which blocks belong to them: stores the ambiguous record and returns 1. Arguments: start of records with the same
 * blocks, record, ambiguous record, time to live in seconds.
 */
export const rememberExplicitTurn: string = `
local known = redis.call('GET', KEYS[1])
local isSame = not known or string.sub(known, 1, #ARGV[1]) == ARGV[1]
redis.call('SET', KEYS[1], ARGV[isSame and 2 or 3], 'EX', ARGV[4])
return isSame and 0 or 1
`

/** Deletes a record if it is still the given one. Argument: its head. */
export const forgetTurn: string = `
local known = redis.call('GET', KEYS[1])
if known and string.sub(known, 1, #ARGV[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`
