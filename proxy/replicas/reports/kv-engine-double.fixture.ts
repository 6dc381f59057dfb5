import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { pack } from 'msgpackr'
import { EventPublisherDouble } from '#engine-adapters/kv-events/publisher-double.fixture.ts'

interface Body {
  readonly messages: { readonly content: string }[]
  readonly cache_salt?: string
}

const blockSize = 16

/**
 * Answers chats and renders them like vLLM, from a real LRU cache of hash-chained blocks, and reports the cache by real
 * KV events. A word is a token. Its hashes cannot be computed from outside.
 */
export class KvEngineDouble {
  readonly publisher: EventPublisherDouble = new EventPublisherDouble()
  readonly #server: Server
  readonly #capacity: number
  #seed = 0
  /** hashes of blocks, least recently used first */
  readonly #blocks = new Set<bigint>()
  /** hashes of blocks in a second tier, as vLLM's OffloadingConnector copies and reports them */
  readonly #copies = new Set<bigint>()
  /** the second tier's medium; undefined: there is none */
  copiesTo: string | undefined
  #clock = 1
  #events: unknown[] = []
  /** how many tokens of each request were cached, in order */
  readonly reported: number[] = []
  rendered = 0
  canRender = true
  /** the count of tokens reused at another position in answers */
  reusedTokens: number | undefined
  /** older versions do not name salts, and list an event's fields by position */
  namesSalts = true
  /** delay of an answer after it is computed */
  answerMilliseconds = 0

  constructor(capacityBlocks: number) {
    this.#capacity = capacityBlocks
    this.#server = createServer(async (request, response) => {
      if (request.method !== 'POST') {
        response.writeHead(404).end()
        return
      }
      const body = await readJson(request)
      const isRender = request.url!.endsWith('/render')
      response.setHeader('content-type', 'application/json')
      if (isRender && !this.canRender) response.statusCode = 500
      if (request.url === '/v1/chat/completions') await this.#answer(response, await this.#run(body))
      else if (isRender) response.end(JSON.stringify(this.#render(body)))
      else response.writeHead(404).end('{}')
    })
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The number of blocks held. */
  get held(): number {
    return this.#blocks.size
  }

  async start(): Promise<this> {
    await this.publisher.start()
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return this
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
    await this.publisher.stop()
  }

  /** Empties the cache; reported with the next step, as by vLLM. */
  clear(): void {
    this.#blocks.clear()
    this.#events.push({ type: 'AllBlocksCleared' })
  }

  /** Restarts with other hashes. */
  async restart(): Promise<void> {
    this.#blocks.clear()
    this.#events = []
    this.#seed += 1
    await this.publisher.restart()
  }

  async #answer(response: ServerResponse, answer: unknown): Promise<void> {
    if (this.answerMilliseconds > 0) await pause(this.answerMilliseconds, undefined, { ref: false })
    response.end(JSON.stringify(answer))
  }

  #render(body: Body): unknown {
    if (!this.canRender) return { error: { message: 'not now' } }
    this.rendered += 1
    return { token_ids: tokensOf(body), features: null }
  }

  async #run(body: Body): Promise<unknown> {
    const tokens = tokensOf(body)
    const hashes = this.#hashesOf(tokens, body.cache_salt)
    const leading = (from: number, held: ReadonlySet<bigint>): number => {
      const missing = hashes.findIndex((hash, i) => i >= from && !held.has(hash))
      return missing === -1 ? hashes.length : missing
    }
    // the last token is always computed
    const most = Math.floor((tokens.length - 1) / blockSize)
    const onDevice = Math.min(leading(0, this.#blocks), most)
    const cached = Math.min(leading(onDevice, this.#copies), most)
    for (const hash of hashes.slice(0, onDevice)) this.#touch(hash)
    if (onDevice < hashes.length) this.#store(tokens, hashes, onDevice, body.cache_salt)
    // a request's blocks are released from the end: the first block is the most recently used
    for (const hash of hashes.toReversed()) this.#touch(hash)
    this.reported.push(cached * blockSize)
    if (this.#events.length > 0) await this.publisher.publish(pack([this.#clock++, this.#events.splice(0), 0]))
    const usage = {
      prompt_tokens: tokens.length,
      completion_tokens: 1,
      prompt_tokens_details: { cached_tokens: cached * blockSize, reused_tokens: this.reusedTokens },
    }
    return { id: 'x', object: 'chat.completion', choices: [{ index: 0, message: { content: 'Yes.' } }], usage }
  }

  #store(tokens: number[], hashes: bigint[], from: number, salt: string | undefined): void {
    const fresh = hashes.slice(from)
    const own = new Set(hashes)
    while (this.#blocks.size + fresh.length > this.#capacity) {
      const oldest = [...this.#blocks].find((hash) => !own.has(hash))
      if (oldest === undefined) break
      this.#blocks.delete(oldest)
      this.#events.push({ type: 'BlockRemoved', block_hashes: [oldest], medium: 'GPU', group_idx: 0 })
    }
    for (const hash of fresh) this.#blocks.add(hash)
    const stored = {
      type: 'BlockStored',
      block_hashes: fresh,
      parent_block_hash: hashes[from - 1] ?? null,
      token_ids: tokens.slice(from * blockSize, hashes.length * blockSize),
      block_size: blockSize,
      lora_id: null,
      medium: 'GPU',
      lora_name: null,
    }
    const extra_keys = fresh.map((_, i) => (from === 0 && i === 0 && salt ? [salt] : null))
    this.#events.push(this.namesSalts ? { ...stored, extra_keys, group_idx: 0 } : Object.values(stored))
    for (const hash of this.copiesTo === undefined ? [] : fresh) {
      this.#copies.add(hash)
      const placeholder = { parent_block_hash: null, token_ids: [], block_size: 0, lora_id: null, lora_name: null }
      this.#events.push({
        type: 'BlockStored',
        block_hashes: [hash],
        ...placeholder,
        medium: this.copiesTo,
        group_idx: 0,
      })
    }
  }

  #touch(hash: bigint): void {
    if (this.#blocks.delete(hash)) this.#blocks.add(hash)
  }

  #hashesOf(tokens: number[], salt = ''): bigint[] {
    let before = `${this.#seed} ${salt}`
    return Array.from({ length: Math.floor(tokens.length / blockSize) }, (_, i) => {
      const block = tokens.slice(i * blockSize, (i + 1) * blockSize)
      const digest = createHash('sha256').update(`${before} ${block}`).digest()
      before = digest.toString('hex')
      return digest.readBigUInt64BE(0)
    })
  }
}

function tokensOf({ messages }: Body): number[] {
  const words = messages.flatMap(({ content }) => ['<role>', ...content.split(/\s+/)])
  return words.map((word) => createHash('sha256').update(word).digest().readUInt16LE(0))
}

async function readJson(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString()) as Body
}
