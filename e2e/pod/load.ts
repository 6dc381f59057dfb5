import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'

/** A request that was not answered correctly. */
export interface Failure {
  readonly at: number
  readonly reason: string
}

export interface LoadReport {
  readonly requests: number
  readonly streams: number
  readonly failures: readonly Failure[]
  /** connections opened by all clients together */
  readonly connections: number
}

const pauseMilliseconds = 100
const model = 'reprise-emulator'

/**
 * Clients with kept-alive connections that send one prompt after another, every second one as a stream; none retries.
 */
export class Load {
  readonly #stop = new AbortController()
  readonly #clients: Promise<void>[]
  readonly #failures: Failure[] = []
  #requests = 0
  #streams = 0
  #connections = 0

  constructor(url: string, clients: number, modelName: string = model) {
    this.#clients = Array.from({ length: clients }, (_, client) => this.#run(url, client, modelName))
  }

  get requests(): number {
    return this.#requests
  }

  /** Waits for the requests in flight, then returns the report. */
  async finished(): Promise<LoadReport> {
    this.#stop.abort()
    await Promise.all(this.#clients)
    return {
      requests: this.#requests,
      streams: this.#streams,
      failures: this.#failures,
      connections: this.#connections,
    }
  }

  async #run(url: string, client: number, modelName: string): Promise<void> {
    // no timeouts, because a client of an engine must tolerate a minute of silence or more
    const agent = new Agent({ connections: 1, keepAliveTimeout: 60_000, headersTimeout: 0, bodyTimeout: 0 })
    agent.on('connect', () => {
      this.#connections += 1
    })
    for (let i = 0; !this.#stop.signal.aborted; i++) {
      const stream = i % 2 === 1
      await this.#ask(agent, url, { ...prompt(client, i, modelName), stream }).catch((error: Error) => {
        this.#failures.push({ at: Date.now(), reason: `${error.message} ${'code' in error ? error.code : ''}` })
      })
      this.#requests += 1
      if (stream) this.#streams += 1
      await pause(pauseMilliseconds)
    }
    await agent.close()
  }

  async #ask(dispatcher: Agent, url: string, body: { stream: boolean }): Promise<void> {
    const response = await request(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      dispatcher,
    })
    const text = await response.body.text()
    if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${text.slice(0, 200)}`)
    if (body.stream ? !text.trimEnd().endsWith('data: [DONE]') : !text.includes('"choices"')) {
      throw new Error(`an answer that is not whole: ${text.slice(-200)}`)
    }
  }
}

/** Returns a prompt with documents, some of which other prompts share. */
export function prompt(
  client: number,
  i: number,
  modelName: string = model,
): { model: string; messages: object[]; max_tokens: number } {
  const documents = [i % 7, (i + client) % 7, (i * 3) % 7].map(
    (document, k) => `<document index="${k + 1}">Document ${document}. ${'What it says. '.repeat(20)}</document>`,
  )
  const content = `<documents>\n${documents.join('\n')}\n</documents>\n\nQuestion: number ${i} of client ${client}?`
  return { model: modelName, messages: [{ role: 'user', content }], max_tokens: 16 }
}
