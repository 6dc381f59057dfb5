import { expect } from 'vitest'
import type { Config } from '#proxy/config/config.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { contentsIn, documentRequest } from './placed-blocks.ts'
import type { RecordingEngineDouble } from './recording-engine-double.ts'
import { postJson, startTestProxy } from './start-test-proxy.ts'

interface Message {
  readonly role: string
  readonly content: string
}

/** Starts a proxy that shares its state through a Redis. */
export function startSharedProxy(
  engine: RecordingEngineDouble,
  url: string,
  config: Partial<Config> = {},
): Promise<RunningProxy> {
  // a long read limit, so that turns are recalled on busy machines, too
  const redis = { url, namespace: 'test', ttlSeconds: 600, readMilliseconds: 2_000 }
  return startTestProxy({ url: engine.url }, { redis, ...config })
}

/**
 * A conversation of one user through any proxies. Checks that the engine always gets the same bytes for a past turn.
 */
export class SharedConversation {
  readonly messages: Message[]
  readonly #engine: RecordingEngineDouble
  readonly #name: string
  #sent: string[] = []

  constructor(engine: RecordingEngineDouble, name: string) {
    this.#engine = engine
    this.#name = name
    this.messages = [{ role: 'system', content: `Answer ${name} from the documents.` }]
  }

  /** The texts of the last request as they reached the engine. */
  get sent(): readonly string[] {
    return this.#sent
  }

  /** Makes a proxy hold another document order after this system prompt; turns it does not recall are ordered by it. */
  async bias(proxy: RunningProxy, names: string): Promise<void> {
    await this.#post(proxy, [this.messages[0]!, question(`before ${this.#name}`, names)])
  }

  /** Asks the next question, about the named documents. Resolves with the milliseconds it took. */
  async ask(proxy: RunningProxy, names: string): Promise<number> {
    this.messages.push(question(`turn ${this.messages.length} of ${this.#name}`, names))
    const before = this.#sent
    const milliseconds = await this.#post(proxy, this.messages)
    this.#sent = contentsIn(this.#engine.requests.at(-1))
    expect(this.#sent.slice(0, before.length)).toEqual(before)
    this.messages.push({ role: 'assistant', content: 'so it is' })
    return milliseconds
  }

  async #post(proxy: RunningProxy, messages: readonly Message[]): Promise<number> {
    const started = performance.now()
    const response = await postJson(`${proxy.url}/v1/chat/completions`, { model: 'm', messages })
    expect(response.status).toBe(200)
    await response.arrayBuffer()
    return performance.now() - started
  }
}

function question(words: string, names: string): Message {
  return (documentRequest(`what of it, ${words}?`, names) as { messages: Message[] }).messages[1]!
}
