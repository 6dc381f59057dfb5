import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { PrefixCache, ReusingPrefixCache } from './cache/prefix-cache.ts'
import { RadixCache } from './cache/radix-cache.ts'
import { CallbackSender } from './callback-sender.ts'
import { emulatorDefaults } from './emulator-defaults.ts'
import { EngineCore } from './engine-core.ts'
import { type Answer, sendAnswer } from './http/answer.ts'
import type { EngineKind } from './http/engine-error.ts'
import { answerGenerate } from './http/generate.ts'
import { type Call, createHttpServer, type Routes } from './http/http-server.ts'
import { answerMessage, countTokens } from './http/messages.ts'
import { answerChat, answerCompletion } from './http/openai.ts'
import { type CacheSize, createPlainRoutes } from './http/plain-routes.ts'
import { PromptReader } from './http/prompt-reader.ts'
import { answerResponse } from './http/responses.ts'
import { Reader } from './reader/reader.ts'
import { CannedText } from './text/canned-text.ts'
import { Tokenizer } from './text/tokenizer.ts'

export { emulatorDefaults }

export interface EmulatorOptions {
  host: string
  /** 0: any free port */
  port: number
  kind: EngineKind
  /** Capacity of the prefix cache, running requests included; may be Infinity. */
  capacityTokens: number
  /** Tokens per page; by default the engine's own default. */
  blockSize?: number
  prefillTokensPerSecond: number
  /** Maximum tokens of a prompt and its output together; never more than the capacity. */
  maxModelTokens?: number
  /** Largest body that is read; by default 32 MiB. */
  bodyBytes?: number
  /** What reuses KV at any position around the prefix cache; such an engine says so in its snapshots. */
  reusing?: (exact: PrefixCache) => ReusingPrefixCache
  /** `http://HOST:PORT/v1/replicas/NAME`, which receives what is stored and evicted */
  callbackUrl?: string
  callbackToken?: string
  /** The name of its model; requests for another are refused. Without it, any name is answered. */
  model?: string
  /** Two models read the prompts and answer them, instead of one that says the same to all. */
  reads?: boolean
  /** Called when the callbacks begin to fail and when they work again. */
  warn?: (message: string) => void
}

export interface Emulator {
  url: string
  close(): Promise<void>
}

/**
 * Starts an engine without a model: it has an engine's HTTP API, prefix cache, timing and eviction reports, and
 * answers every prompt with the same canned text, or, if it reads, by simple rules.
 */
export async function startEmulator(options: EmulatorOptions): Promise<Emulator> {
  const { kind, callbackUrl, prefillTokensPerSecond } = options
  const pageTokens =
    options.blockSize ?? (kind === 'vllm' ? emulatorDefaults.blockSize : emulatorDefaults.sglangBlockSize)
  const exact = new RadixCache(options.capacityTokens, pageTokens, kind === 'sglang' ? 'leaf' : 'page')
  const reusing = options.reusing?.(exact)
  const cache: PrefixCache = reusing ?? exact
  const { capacityTokens } = cache
  const tokenizer = new Tokenizer()
  let sender: CallbackSender | undefined
  const onReports: CallbackSender['report'] = (reports) => sender?.report(reports)
  const engine = new EngineCore({ cache, text: new CannedText(tokenizer), prefillTokensPerSecond, onReports })
  const modelTokens = Math.min(options.maxModelTokens ?? emulatorDefaults.maxModelTokens, capacityTokens)
  const models = options.reads ? new Reader(tokenizer) : undefined
  const reader = new PromptReader(kind, modelTokens, tokenizer, models, options.model)
  const routes = createRoutes(engine, reader, { pageTokens, capacityTokens })
  const server = createHttpServer(kind, routes, options.bodyBytes)
  server.listen(options.port, options.host)
  // rejects with the server's own error if the address cannot be used
  await once(server, 'listening')
  if (callbackUrl !== undefined) {
    sender = new CallbackSender({
      url: callbackUrl,
      token: options.callbackToken,
      snapshot: () => cache.requests(),
      reuse: reusing?.offer,
      warn: options.warn ?? (() => {}),
    })
  }
  const { address, family, port } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
      await sender?.close()
    },
  }
}

function createRoutes(engine: EngineCore, reader: PromptReader, size: CacheSize): Routes {
  const answers: Readonly<Record<string, (reader: PromptReader, call: Call) => Answer>> = {
    '/v1/chat/completions': answerChat,
    '/v1/completions': answerCompletion,
    '/v1/responses': answerResponse,
    '/v1/messages': answerMessage,
    ...(reader.kind === 'sglang' ? { '/generate': answerGenerate } : {}),
  }
  return new Map([
    ...createPlainRoutes(engine, reader, size),
    ['POST /v1/messages/count_tokens', (call) => countTokens(reader, call)],
    ...Object.entries(answers).map(([path, answer]): [string, (call: Call) => Promise<void>] => [
      `POST ${path}`,
      async (call) => sendAnswer(engine, call, answer(reader, call)),
    ]),
  ])
}
