import { LRUCache } from 'lru-cache'
import type { RequestId } from '#index/context-block.ts'
import type { PromptTokens } from '#index/mirror/token-mirror.ts'
import type { ReplicaMirror } from '../replicas/mirror/replica-mirror.ts'
import type { Replica } from '../replicas/replica.ts'
import { WriteBehind } from './connection/write-behind.ts'
import { type MirrorKeys, mirrorRedisKeys } from './redis-keys.ts'
import { SharedPart, type SharedPartOptions } from './shared-part.ts'

interface SharedTokensOptions extends SharedPartOptions {
  readonly replica: Pick<Replica, 'id' | 'cacheConfig'> & {
    readonly replicaMirror: Pick<ReplicaMirror, 'mirror' | 'tokens'>
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
    const { tokens } = replica.replicaMirror
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
    for (const request of this.options.replica.replicaMirror.tokens.known()) this.#writing.put(request, 'learned')
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
    for (const request of this.options.replica.replicaMirror.tokens.unknown()) {
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
    const { replicaMirror, cacheConfig } = this.options.replica
    const held = replicaMirror.mirror.heldOf(request)
    // the mirror counts in characters, rounded down
    const cachedTokens = held ? Math.ceil(held.cachedLength * held.tokensPerCharacter - 1e-6) : 0
    replicaMirror.tokens.restore(request, prompt, cachedTokens, cacheConfig!.pageTokens)
  }
}

const version = 1
const headBytes = 3
const bytesPerToken = 4
/** More than any model's context. */
const maxTokens = 1 << 22

/** Encodes tokens: version, length of the scope, scope, 4 bytes per token. Returns undefined if it is too long. */
export function writeTokens({ tokens, scope }: PromptTokens): Buffer | undefined {
  const name = Buffer.from(scope)
  if (tokens.length > maxTokens || name.length > 0xffff) return undefined
  const bytes = Buffer.alloc(headBytes + name.length + tokens.length * bytesPerToken)
  bytes.writeUInt8(version, 0)
  bytes.writeUInt16BE(name.length, 1)
  name.copy(bytes, headBytes)
  const start = headBytes + name.length
  for (let i = 0; i < tokens.length; i++) bytes.writeUInt32BE(tokens[i]!, start + i * bytesPerToken)
  return bytes
}

/** Decodes tokens. Returns undefined if the record is invalid. */
export function readTokensRecord(bytes: unknown): PromptTokens | undefined {
  if (!Buffer.isBuffer(bytes) || bytes.length < headBytes || bytes[0] !== version) return undefined
  const start = headBytes + bytes.readUInt16BE(1)
  const count = (bytes.length - start) / bytesPerToken
  if (!Number.isInteger(count) || count < 1 || count > maxTokens) return undefined
  const tokens = Uint32Array.from({ length: count }, (_, i) => bytes.readUInt32BE(start + i * bytesPerToken))
  return { tokens, scope: bytes.toString('utf8', headBytes, start) }
}
