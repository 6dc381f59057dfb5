import { randomBytes, randomUUID } from 'node:crypto'
import type { CacheConfig } from '#engine-adapters/cache-config.ts'
import type { EngineKind } from '#engine-adapters/engine-adapter.ts'
import { readUsage } from '#engine-adapters/read-usage.ts'
import { type EngineConnection, isGood, type Reply } from '../../engine-connection.ts'
import type { MirroredReplica } from '../check-proxy.ts'
import type { ServedModel } from '../engine/check-models.ts'

/** An engine whose cache is tested. */
export interface ProbedEngine {
  readonly kind: EngineKind
  /** whether requests are sent with a cache_salt */
  readonly isSalted: boolean
  readonly model: ServedModel
  readonly cache: CacheConfig
  /** what a running proxy knows of it */
  readonly replica: MirroredReplica | undefined
}

/** What the engine reports about one probe. */
export interface Probe {
  readonly promptTokens: number
  /** undefined: not reported */
  readonly cachedTokens: number | undefined
  readonly milliseconds: number
}

/** Probes of the same prompt, which was new to the engine. */
export interface ProbeRun {
  readonly first: Probe
  /** sent until one was served from the cache */
  readonly repeats: readonly Probe[]
  /** with another cache_salt; undefined if no salt is sent */
  readonly otherSalt: Probe | undefined
  /** two more prompts whose first half is that of the first; empty if it was not served from the cache at once */
  readonly sharers: readonly (Probe | undefined)[]
}

interface ProbeOptions {
  readonly model: string
  /** words of the prompt, about equal to its tokens */
  readonly words: number
  /** whether a cache_salt is sent to this kind of engine */
  readonly isSalted: boolean
}

/** With two or three replicas behind a load balancer, one of these reaches the replica of the first probe. */
const mostRepeats = 3

/** A prompt of fewer words would not fill a page. */
const fewestWords = 16

/**
 * Sends the probes. If the engine refuses one, returns its reply. A prompt that is too long for the engine, because its
 * tokenizer needs many tokens per word, is sent again with half of its words.
 */
export async function probePrefixCache(connection: EngineConnection, options: ProbeOptions): Promise<ProbeRun | Reply> {
  const run = await probeOnce(connection, options)
  const words = Math.floor(options.words / 2)
  if ('first' in run || !isTooLong(run) || words < fewestWords) return run
  return probePrefixCache(connection, { ...options, words })
}

/** Whether the reply says that the prompt is too long, in the words of vLLM, SGLang or OpenAI. */
function isTooLong({ status, text }: Reply): boolean {
  return status === 400 && /context length|context_length/i.test(text)
}

async function probeOnce(connection: EngineConnection, options: ProbeOptions): Promise<ProbeRun | Reply> {
  const half = Math.ceil(options.words / 2)
  // nobody has sent it before
  const start = `Probe ${randomUUID()}. ${writeWords(half)}`
  const writeText = (): string => `${start} ${writeWords(half)}. Answer with one word.`
  const text = writeText()
  const send = await createSender(connection, options)
  const salt = options.isSalted ? `probe-${randomUUID()}` : undefined
  const reply = await send(text, salt)
  const first = readProbe(reply)
  if (!first) return reply
  const repeats: Probe[] = []
  while (repeats.length < mostRepeats && !repeats.at(-1)?.cachedTokens) {
    const repeated = await send(text, salt)
    const probe = readProbe(repeated)
    if (!probe) return repeated
    repeats.push(probe)
    // if counts are not reported, more repeats show nothing new
    if (repeats.length === 2 && [first, ...repeats].every(({ cachedTokens }) => cachedTokens === undefined)) break
  }
  const otherSalt = options.isSalted ? readProbe(await send(text, `probe-${randomUUID()}`)) : undefined
  const share = async (): Promise<Probe | undefined> => readProbe(await send(writeText(), salt))
  const sharers = repeats[0]?.cachedTokens ? [await share(), await share()] : []
  return { first, repeats, otherSalt, sharers }
}

type Send = (text: string, salt: string | undefined) => Promise<Reply>

/** Sends chats, or completions if the engine's model has no chat template. */
async function createSender(connection: EngineConnection, { model }: ProbeOptions): Promise<Send> {
  const common = { model, max_tokens: 1, temperature: 0 }
  const chat: Send = (content, cache_salt) =>
    connection.post('/v1/chat/completions', { ...common, messages: [{ role: 'user', content }], cache_salt })
  const plain: Send = (prompt, cache_salt) => connection.post('/v1/completions', { ...common, prompt, cache_salt })
  const reply = await chat('Hi', undefined)
  const hasNoChat = reply.status === 404 || (!isGood(reply) && /chat.?template/i.test(reply.text))
  return hasNoChat ? plain : chat
}

function readProbe(reply: Reply): Probe | undefined {
  if (!isGood(reply)) return undefined
  const usage = readUsage(reply.text)
  return {
    promptTokens: usage?.promptTokens ?? 0,
    cachedTokens: usage?.cachedTokens,
    milliseconds: reply.milliseconds,
  }
}

const words =
  'river stone window garden paper morning engine silver market forest bridge letter winter candle harbor meadow ladder copper island valley button carpet feather lantern pepper saddle thunder velvet walnut zipper anchor basket cactus dragon easel falcon guitar hammer insect jacket kettle lemon magnet needle orange pencil quartz ribbon salmon tunnel urchin violin wagon yellow acorn bottle camera dinner effort figure'.split(
    ' ',
  )

function writeWords(count: number): string {
  return [...randomBytes(count)].map((byte) => words[byte % words.length]).join(' ')
}
