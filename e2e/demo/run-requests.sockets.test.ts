import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { ChatMessage } from './prompt.ts'
import { type Run, type RunOptions, runRequests } from './run-requests.ts'
import type { Turn } from './workload.ts'

interface Received {
  readonly messages: readonly ChatMessage[]
  readonly authorization: string | undefined
}

type Answer = (received: Received, response: ServerResponse) => Promise<void> | void

/** An engine double that records what it receives and answers as the test specifies. */
class ScriptedEngine {
  readonly received: Received[] = []
  active = 0
  mostActive = 0
  readonly #server: Server

  constructor(answer: Answer) {
    this.#server = createServer((request, response) => void this.#serve(request, response, answer))
  }

  async #serve(request: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
    this.active += 1
    this.mostActive = Math.max(this.mostActive, this.active)
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString('utf8'))
    const received = { messages: body.messages, authorization: request.headers.authorization }
    this.received.push(received)
    await answer(received, response)
    this.active -= 1
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const event = (data: unknown): string => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
const content = (text: string): string => event({ choices: [{ index: 0, delta: { content: text } }] })
const usage = (prompt: number, cached: number): string =>
  event({ choices: [], usage: { prompt_tokens: prompt, prompt_tokens_details: { cached_tokens: cached } } })

const answerAtOnce: Answer = ({ messages }, response) => {
  response.end(content(`answer ${messages.length}`) + usage(100, 25) + event('[DONE]'))
}

function turnsOf(...conversations: (string | undefined)[]): Turn[] {
  return conversations.map((conversation, at) => ({
    id: `q${at}`,
    conversation,
    tenant: undefined,
    question: `Question ${at}?`,
    blocks: [{ id: `b${at}`, text: `text ${at}` }],
  }))
}

describe('runRequests', () => {
  let engine: ScriptedEngine

  afterEach(() => engine.close())

  const run = async (answer: Answer, turns: Turn[], options: Partial<RunOptions> = {}): Promise<Run> => {
    engine = new ScriptedEngine(answer)
    const progress = { advance: () => undefined, stop: () => undefined }
    const baseUrl = await engine.listen()
    const { signal: interrupted } = new AbortController()
    return runRequests(turns, { baseUrl, model: 'm', maxTokens: 8, concurrency: 1, progress, interrupted, ...options })
  }

  it('measures the time to the first chunk that has content, and takes the usage from the stream', async () => {
    const { outcomes } = await run(async (_, response) => {
      response.setHeader('x-reprise-blocks', '10').setHeader('x-reprise-moved', '3')
      response.write(event({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] }))
      await pause(100)
      response.write(content('Hel'))
      await pause(100)
      response.end(content('lo') + usage(1200, 800) + event('[DONE]'))
    }, turnsOf(undefined))
    expect(outcomes).toHaveLength(1)
    const [outcome] = outcomes
    expect(outcome).toMatchObject({ answer: 'Hello', promptTokens: 1200, cachedTokens: 800 })
    expect(outcome?.proxy).toEqual({ blocks: 10, moved: 3, deduplicated: 0, skipped: undefined })
    expect(outcome!.firstTokenMs).toBeGreaterThanOrEqual(95)
    // a busy client may read the first chunk late
    expect(outcome!.totalMs).toBeGreaterThanOrEqual(195)
    expect(outcome!.firstTokenMs).toBeLessThan(outcome!.totalMs)
  })

  it('repeats the history of a conversation in its original form', async () => {
    await run(answerAtOnce, turnsOf('c', 'd', 'c'))
    const [first, , third] = engine.received
    expect(third?.messages.slice(0, 2)).toEqual(first?.messages)
    expect(third?.messages[2]).toEqual({ role: 'assistant', content: 'answer 2' })
    expect(third?.messages[3]?.content).toContain('Question 2?')
    expect(third?.messages).toHaveLength(4)
  })

  it('sends as many requests at once as asked for, but one at a time of a conversation', async () => {
    const open = new Set<string>()
    const { outcomes, failures } = await run(
      async (received, response) => {
        const opener = received.messages[1]!.content
        expect(open.has(opener)).toBe(false)
        open.add(opener)
        await pause(20)
        open.delete(opener)
        await answerAtOnce(received, response)
      },
      turnsOf('c', 'c', 'c', 'd', 'd', 'e'),
      { concurrency: 3 },
    )
    expect(failures).toEqual([])
    expect(outcomes.map((outcome) => outcome.turn.id)).toEqual(['q0', 'q1', 'q2', 'q3', 'q4', 'q5'])
    expect(engine.mostActive).toBe(3)
  })

  it('sends a tenant’s requests with a key of its own', async () => {
    await run(answerAtOnce, [{ ...turnsOf(undefined)[0]!, tenant: 'team-a' }])
    expect(engine.received[0]?.authorization).toBe('Bearer team-a')
  })

  it('aborts what is under way when it is interrupted, and sends no more', async () => {
    const interruption = new AbortController()
    const { outcomes, failures } = await run(
      (_, response) => {
        response.write(content('a'))
        interruption.abort()
      },
      turnsOf('c', 'd', 'e'),
      { interrupted: interruption.signal },
    )
    expect(outcomes).toEqual([])
    expect(failures).toHaveLength(1)
    expect(engine.received).toHaveLength(1)
  })

  it.each<[string, Answer, RegExp]>([
    ['an error status', (_, response) => void response.writeHead(429).end('queue full'), /status 429: queue full/],
    ['a stream that breaks off', (_, response) => void response.end(content('a')), /broke off before its end/],
    ['a closed connection', (_, response) => void response.destroy(), /other side closed/],
    ['a stream without usage', (_, response) => void response.end(content('a') + event('[DONE]')), /no cached_tokens/],
    ['an empty answer', (_, response) => void response.end(usage(9, 0) + event('[DONE]')), /the answer is empty/],
    [
      'an error in the stream',
      (_, response) => void response.end(content('a') + event({ error: { message: 'out of memory' } })),
      /out of memory/,
    ],
  ])('counts %s as a failure and goes on', async (_, fail, reason) => {
    let first = true
    const { outcomes, failures } = await run(
      (received, response) => {
        const answer = first ? fail : answerAtOnce
        first = false
        return answer(received, response)
      },
      turnsOf('c', 'c'),
    )
    expect(failures).toHaveLength(1)
    expect(failures[0]?.reason).toMatch(reason)
    expect(outcomes).toHaveLength(1)
    // the unanswered turn is not part of the history
    expect(engine.received[1]?.messages).toHaveLength(2)
  })
})
