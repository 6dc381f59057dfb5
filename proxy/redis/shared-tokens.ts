import { LRUCache } from 'lru-cache'
import type { RequestId } from '#index/context-block.ts'
import type { PromptTokens } from '#index/mirror/token-mirror.ts'
import type { ReplicaCache } from '../replicas/mirror/replica-cache.ts'
import type { Replica } from '../replicas/replica.ts'
import { pack, unpack } from './codec/pack.ts'
import { WriteBehind } from './connection/write-behind.ts'
import { type MirrorKeys, mirrorRedisKeys } from './redis-keys.ts'
import { SharedPart, type SharedPartOptions } from './shared-part.ts'

interface SharedTokensOptions extends SharedPartOptions {
  readonly replica: Pick<Replica, 'id' | 'cacheConfig'> & {
    readonly cache: Pick<ReplicaCache, 'mirror' | 'tokens'>
  }
}

const pollMilliseconds = 100
const requestsPerRead = 16
/** The proxy that sent a request may not have learned its tokens yet. */
const askAgainMilliseconds = 1_000
const maxAsked = 1 << 16
const maxWaiting = 10_000

/**
 * Shares the tokens of prompts through Redis. Writes behind what this proxy learned. Reads the tokens of cached
 * requests that another proxy sent, or this one before a restart.
 */
export class SharedTokens extends SharedPart<SharedTokensOptions> {
  readonly #keys: MirrorKeys
  readonly #writing: WriteBehind<RequestId, 'learned' | 'forgotten'>
  readonly #asked = new LRUCache<RequestId, true>({ max: maxAsked, ttl: askAgainMilliseconds })
  readonly #unlisten: () => void

  constructor(options: SharedTokensOptions) {
    super(options, pollMilliseconds)
    const { namespace, redis, replica, ttlSeconds, onFault } = options
    const { tokens } = replica.cache
    this.#keys = mirrorRedisKeys(namespace, replica.id)
    this.#writing = new WriteBehind(redis, {
      maxKeys: maxWaiting,
      toCommand: (request, change) => {
        const key = this.#keys.tokens(request)
        if (change === 'forgotten') return { key, name: 'unlink', args: [key] }
        const prompt = tokens.recall(request)
        const bytes = prompt && writeTokens(prompt)
        return bytes && { key, name: 'set', args: [key, bytes, 'EX', ttlSeconds] }
      },
      onReply: (_request, _change, reply, isRepeated) => {
        if ('error' in reply && !isRepeated) onFault('redis_write')
      },
      onGivenUp: () => this.#writeAll(),
    })
    tokens.listen({
      learned: (request) => this.#writing.put(request, 'learned'),
      forgotten: (request) => this.#writing.put(request, 'forgotten'),
    })
    this.#unlisten = redis.listen({ onUp: () => this.#writing.wake(), onLost: () => this.#writeAll() })
  }

  /** Writes what it can within the given time, then stops. */
  override async close(milliseconds: number): Promise<void> {
    await this.stop()
    this.#unlisten()
    await this.#writing.close(milliseconds, () => performance.now())
  }

  #writeAll(): void {
    for (const request of this.options.replica.cache.tokens.known()) this.#writing.put(request, 'learned')
  }

  /** Reads missing tokens. */
  protected async exchange(): Promise<void> {
    // without the engine's page size they would have to be restored twice
    if (!this.options.replica.cacheConfig) return
    for (let missing = this.#missing(); missing.length > 0; missing = this.#missing()) await this.#readSome(missing)
  }

  /** Returns some of the requests whose tokens are to be read. */
  #missing(): RequestId[] {
    const missing: RequestId[] = []
    for (const request of this.options.replica.cache.tokens.unknown()) {
      if (this.#asked.has(request)) continue
      missing.push(request)
      if (missing.length === requestsPerRead) break
    }
    return missing
  }

  async #readSome(requests: readonly RequestId[]): Promise<void> {
    const { redis, onFault } = this.options
    for (const request of requests) this.#asked.set(request, true)
    const commands = requests.map((request) => {
      const key = this.#keys.tokens(request)
      return { key, name: 'getBuffer', args: [key] }
    })
    const replies = await redis.write(commands)
    for (const [i, request] of requests.entries()) {
      const reply = replies[i]!
      if ('error' in reply || reply.value === null) continue
      const prompt = readTokensRecord(reply.value)
      if (prompt) this.#restore(request, prompt)
      else onFault('redis_value')
    }
  }

  #restore(request: RequestId, prompt: PromptTokens): void {
    const { cache, cacheConfig } = this.options.replica
    const held = cache.mirror.heldOf(request)
    // the mirror counts in characters, rounded down
    const cachedTokens = held ? Math.ceil(held.cachedLength * held.tokensPerCharacter - 1e-6) : 0
    cache.tokens.restore(request, prompt, cachedTokens, cacheConfig!.pageTokens)
  }
}

const version = 2
const bytesPerToken = 4
/** More than any model's context. */
const maxTokens = 1 << 22

/** Encodes tokens, 4 bytes each, and their scope. Returns undefined if there are too many. */
export function writeTokens({ tokens, scope }: PromptTokens): Buffer | undefined {
  if (tokens.length > maxTokens) return undefined
  return pack([version, scope, Buffer.from(tokens.buffer, tokens.byteOffset, tokens.byteLength)])
}

/** Decodes tokens. Returns undefined if the record is invalid. */
export function readTokensRecord(bytes: unknown): PromptTokens | undefined {
  const [written, scope, words] = (Buffer.isBuffer(bytes) && unpack(bytes, 3)) || []
  if (written !== version || typeof scope !== 'string' || !Buffer.isBuffer(words)) return undefined
  const count = words.length / bytesPerToken
  if (!Number.isInteger(count) || count < 1 || count > maxTokens) return undefined
  return { tokens: new Uint32Array(Uint8Array.from(words).buffer), scope }
}
