import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { vllmChat } from '#proxy/answer/answer-streams.fixture.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { documentRequest, metricOf } from './placed-blocks.ts'
import { connectRaw, rawPost } from './raw-client.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { errorOf, type Overrides, postJson, startTestProxy } from './start-test-proxy.ts'

const comment = ': keep-alive\n\n'
/** several times the silence after which comments are sent */
const silence = 250

let engine: RecordingEngineDouble
let proxy: RunningProxy

beforeEach(async () => {
  engine = await startRecordingEngineDouble()
  proxy = await startTestProxy({ url: engine.url }, { keepAliveSeconds: 0.04 })
})

afterEach(async () => {
  await proxy.close()
  await engine.close()
})

const stream = (path = '/v1/chat/completions', rest: object = {}): Promise<Response> =>
  postJson(proxy.url + path, {
    model: 'm',
    messages: [{ role: 'user', content: 'x' }],
    prompt: 'x',
    input: 'x',
    text: 'x',
    stream: true,
    ...rest,
  })

function startStream(answer: ServerResponse): void {
  answer.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-engine': 'yes' }).flushHeaders()
}

function eventsOf(text: string): { events: EventSourceMessage[]; comments: number } {
  const events: EventSourceMessage[] = []
  let comments = 0
  const parser = createParser({
    onEvent: (event) => events.push(event),
    onComment: (text) => {
      comments += Number(text === 'keep-alive')
    },
    onError: (error) => {
      throw error
    },
  })
  parser.feed(text)
  return { events, comments }
}

/** Removes the comments between events; the result equals the engine's stream if there are none elsewhere. */
function withoutComments(text: string): string {
  const events = text.split(/(?<=\n\n|\r\n\r\n)/)
  return events.filter((event) => event !== comment).join('')
}

const written = vllmChat(['[1] Ärger', ' 🙂', ' done.'])

describe('a stream whose engine is silent', () => {
  test('before its head begins with a head of ours, and is then what the engine writes', async () => {
    let ask = (_: ServerResponse): void => {}
    const asked = new Promise<ServerResponse>((resolve) => {
      ask = resolve
    })
    engine.answer(ask)
    // the head arrives before the engine has begun to answer
    const response = await stream()
    void asked.then(async (answer) => {
      await delay(silence)
      startStream(answer)
      answer.end(written)
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    expect(response.headers.get('x-reprise-replica')).toBe('engine')
    expect(response.headers.get('x-request-id')).toBeTruthy()
    const text = await response.text()
    expect(text.startsWith(comment)).toBe(true)
    expect(withoutComments(text)).toBe(written)
    expect(eventsOf(text).comments).toBeGreaterThanOrEqual(2)
    expect(eventsOf(text).events).toEqual(eventsOf(written).events)
  })

  test.each(['\n', '\r\n'])('between events gets comments there, and none within an event (%j)', async (lineEnd) => {
    const bytes = Buffer.from(written.replaceAll('\n', lineEnd))
    // in the middle of a character within an event, and between the event's two line ends
    const [inside, between, end] = [
      bytes.indexOf('🙂') + 2,
      bytes.indexOf(`${lineEnd}${lineEnd}`, bytes.indexOf('🙂')) + lineEnd.length,
      bytes.indexOf(`${lineEnd}${lineEnd}`) + 2 * lineEnd.length,
    ]
    engine.answer(async (answer) => {
      startStream(answer)
      let at = 0
      for (const next of [end, inside, between, bytes.length]) {
        answer.write(bytes.subarray(at, next))
        at = next
        await delay(silence)
      }
      answer.end()
    })
    // on a busy machine, comments may come before the engine's head
    const text = (await (await stream()).text()).replace(/^(: keep-alive\n\n)+/, '')
    // after the first event and after the last
    expect(eventsOf(text).comments).toBeGreaterThanOrEqual(4)
    expect(withoutComments(text)).toBe(bytes.toString())
    expect(eventsOf(text).events).toEqual(eventsOf(bytes.toString()).events)
    const [first, rest] = [text.slice(0, end), text.slice(end)]
    expect(first).toBe(bytes.toString('utf8', 0, end))
    expect(rest.startsWith(comment)).toBe(true)
  })

  test('and that has citations to map, after a head of ours as well', async () => {
    engine.answer((answer) => answer.end('{}'))
    await (await stream(undefined, documentRequest('q1', 'ABC'))).text()
    const sent = vllmChat(['in [', '1', '] and', ' [3', ']'])
    engine.answer((answer) => {
      setTimeout(async () => {
        startStream(answer)
        for (const event of sent.split(/(?<=\n\n)/)) {
          answer.write(event)
          await delay(60)
        }
        answer.end()
      }, silence)
    })
    const response = await stream(undefined, { ...documentRequest('q2', 'CBA'), stream: true })
    const text = await response.text()
    expect(text.startsWith(comment)).toBe(true)
    expect(withoutComments(text)).toBe(vllmChat(['in [', '3', '] and', ' [1', ']']))
  })

  test('is one that the engine may not encode', async () => {
    await (await stream()).text()
    expect(engine.requests[0]!.headers['accept-encoding']).toBe('identity')
  })

  test('whose client leaves ends the engine’s work', async () => {
    let came = 0
    engine.answer(() => {
      came += 1
    })
    const client = await connectRaw(proxy.url)
    client.write(rawPost('/v1/chat/completions', { messages: [], stream: true }))
    await client.until(comment.trim())
    await vi.waitFor(() => expect(came).toBe(1))
    client.reset()
    await engine.abortions[0]
    expect(came).toBe(1)
    await vi.waitFor(async () =>
      expect(
        await metricOf(proxy.adminUrl, 'reprise_requests_total{route="chat_completions",outcome="client_left"}'),
      ).toBe(1),
    )
  })
})

describe('a stream that waits for its turn', () => {
  let held: ServerResponse[]

  async function restart(config: Overrides): Promise<void> {
    await proxy.close()
    proxy = await startTestProxy(
      { url: engine.url },
      {
        keepAliveSeconds: 0.04,
        groupWindowMilliseconds: 0,
        ...config,
        limits: { in_flight_per_replica: 1, ...config.limits },
      },
    )
  }

  /** Sends a request that takes the only slot at the engine. */
  async function takePlace(): Promise<{ answer: Promise<Response> }> {
    const first = stream(undefined, { stream: false })
    await vi.waitFor(() => expect(held).toHaveLength(1), { interval: 5 })
    return { answer: first }
  }

  beforeEach(async () => {
    held = []
    engine.answer((answer) => held.push(answer))
    await restart({})
  })

  test('is kept alive, and is then what the engine writes', async () => {
    await takePlace()
    const response = await stream()
    expect([response.status, response.headers.get('x-reprise-replica')]).toEqual([200, 'engine'])
    expect(response.headers.get('server-timing')).toMatch(/queue;dur=[1-9].*engine;dur=0\.00/)
    expect(engine.requests).toHaveLength(1)
    await delay(silence)
    held[0]!.end('{}')
    await vi.waitFor(() => expect(held).toHaveLength(2), { interval: 5 })
    startStream(held[1]!)
    held[1]!.end(written)
    const text = await response.text()
    expect(eventsOf(text).comments).toBeGreaterThanOrEqual(3)
    expect(withoutComments(text)).toBe(written)
  })

  test('is refused with a status of its own while none was sent: the queue is full', async () => {
    await restart({ waitingRequests: 1 })
    await takePlace()
    const waiting = await stream()
    const refused = await stream()
    expect([refused.status, (await errorOf(refused)).code]).toEqual([429, 'queue_full'])
    await waiting.body!.cancel()
    held[0]!.end('{}')
  })

  test.each(['/v1/chat/completions', '/v1/messages'])(
    'past its deadline is told so as an event of %s',
    async (path) => {
      await restart({ limits: { max_wait_seconds: silence / 1000 } })
      await takePlace()
      const response = await stream(path)
      expect(response.status).toBe(200)
      const { events, comments } = eventsOf(await response.text())
      expect(comments).toBeGreaterThanOrEqual(1)
      expect(events).toHaveLength(1)
      expect(events[0]!.event).toBe(path === '/v1/messages' ? 'error' : undefined)
      expect(JSON.parse(events[0]!.data).error).toMatchObject({ code: 'deadline_exceeded' })
      held[0]!.end('{}')
      expect(engine.requests).toHaveLength(1)
      await vi.waitFor(async () => expect(await metricOf(proxy.adminUrl, 'reprise_queue_depth')).toBe(0))
    },
  )

  test('past a deadline that comes before any comment has the status of its error', async () => {
    await restart({ limits: { max_wait_seconds: 1 }, keepAliveSeconds: 60 })
    await takePlace()
    const response = await stream()
    expect([response.status, (await errorOf(response)).code]).toEqual([504, 'deadline_exceeded'])
    held[0]!.end('{}')
  })

  test('is tried again when its engine is gone for a moment, comments or not', async () => {
    const { answer } = await takePlace()
    const response = await stream()
    expect(response.status).toBe(200)
    const { port } = engine
    await engine.close()
    await answer
    engine = await startRecordingEngineDouble(port)
    engine.answer((answer) => {
      startStream(answer)
      answer.end(written)
    })
    const text = await response.text()
    expect(withoutComments(text)).toBe(written)
  })

  test('is told as an event that its engine is gone for good', async () => {
    await takePlace()
    const response = await stream()
    await engine.close()
    const { events } = eventsOf(await response.text())
    expect(events.map(({ data }) => JSON.parse(data).error.code)).toEqual(['engine_unreachable'])
    engine = await startRecordingEngineDouble()
  })

  test('whose client leaves makes room', async () => {
    await takePlace()
    const client = await connectRaw(proxy.url)
    client.write(rawPost('/v1/chat/completions', { messages: [], stream: true }))
    await client.until(comment.trim())
    client.reset()
    await vi.waitFor(async () => expect(await metricOf(proxy.adminUrl, 'reprise_queue_depth')).toBe(0))
    expect(engine.requests).toHaveLength(1)
    held[0]!.end('{}')
  })
})

describe('no comments come', () => {
  test('in an answer that is no stream', async () => {
    engine.answer((answer) => {
      setTimeout(() => answer.writeHead(201, { 'content-type': 'application/json' }).write('{"a":\n\n'), silence)
      setTimeout(() => answer.end('1}'), 2 * silence)
    })
    for (const rest of [{ stream: false }, { stream: 'true' }, { stream: undefined }]) {
      const response = await stream(undefined, rest)
      expect([response.status, await response.text()]).toEqual([201, '{"a":\n\n1}'])
    }
    const passed = await postJson(`${proxy.url}/v1/embeddings`, { stream: true })
    expect([passed.status, await passed.text()]).toEqual([201, '{"a":\n\n1}'])
  })

  /** Sends the head at once. Comments would come after a second, when the head has arrived even on a busy machine. */
  async function answerAtOnce(headers: Record<string, string>, first: string | Buffer, rest: string): Promise<void> {
    await proxy.close()
    proxy = await startTestProxy({ url: engine.url }, { keepAliveSeconds: 1 })
    engine.answer((answer) => {
      answer.writeHead(200, headers).write(first)
      setTimeout(() => answer.end(rest), 2_500)
    })
  }

  test('in an answer that was asked for as a stream and is none', async () => {
    await answerAtOnce({ 'content-type': 'application/json' }, '{"a":\n\n', '1}')
    expect(await (await stream()).text()).toBe('{"a":\n\n1}')
  })

  test('in a stream that is encoded', async () => {
    const bytes = Buffer.from([0x1f, 0x8b, 0x0a, 0x0a])
    await answerAtOnce({ 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }, bytes, 'rest')
    const client = await connectRaw(proxy.url)
    client.write(rawPost('/v1/chat/completions', { messages: [], stream: true }, ['connection: close']))
    expect(await client.ended).not.toContain('keep-alive\n')
  })

  test('when they are switched off', async () => {
    await proxy.close()
    proxy = await startTestProxy({ url: engine.url }, { keepAliveSeconds: 0 })
    engine.answer((answer) => {
      setTimeout(() => {
        startStream(answer)
        answer.end(written)
      }, silence)
    })
    expect(await (await stream()).text()).toBe(written)
  })

  test('to a client that still has to read, and it gets every byte in the end', async () => {
    const event = `data: ${'x'.repeat(65_536)}\n\n`
    engine.answer((answer) => {
      startStream(answer)
      for (let i = 0; i < 200; i++) answer.write(event)
      setTimeout(() => answer.end('data: [DONE]\n\n'), silence)
    })
    const client = await connectRaw(proxy.url)
    client.write(rawPost('/v1/chat/completions', { messages: [], stream: true }, ['connection: close']))
    await once(client.socket, 'data')
    client.socket.pause()
    await delay(600)
    const before = client.received.length
    expect(before).toBeLessThan(event.length * 150)
    client.socket.resume()
    const body = (await client.ended)
      .replace(/^[\s\S]*?\r\n\r\n/, '')
      .replace(/\r\n[0-9a-f]+\r\n/g, '')
      .replace(/^[0-9a-f]+\r\n/, '')
    const { events, comments } = eventsOf(body)
    expect(events).toHaveLength(201)
    expect(events.slice(0, 200).every(({ data }) => data.length === 65_536)).toBe(true)
    // few comments: only after the client had caught up while the engine was still silent
    expect(comments).toBeLessThan(silence / 40)
  })
})

describe('an error that comes behind a head of ours', () => {
  const apis = ['/v1/chat/completions', '/v1/completions', '/v1/responses', '/v1/messages', '/generate']

  test.each(apis)('is an event of %s, as the engine said it', async (path) => {
    const error = { error: { message: 'too\nmany', type: 'rate_limit', code: 429 } }
    engine.answer((answer) => {
      setTimeout(
        () => answer.writeHead(429, { 'content-type': 'application/json' }).end(JSON.stringify(error, null, 2)),
        silence,
      )
    })
    const response = await stream(path)
    expect(response.status).toBe(200)
    const { events } = eventsOf(await response.text())
    expect(events).toHaveLength(1)
    expect(JSON.parse(events[0]!.data)).toEqual(error)
    const isNamed = path === '/v1/messages' || path === '/v1/responses'
    expect(events[0]!.event).toBe(isNamed ? 'error' : undefined)
  })

  test.each(apis)('is told in the shape of %s when the engine dies', async (path) => {
    engine.answer((answer) => {
      setTimeout(() => answer.destroy(), silence)
    })
    const { events } = eventsOf(await (await stream(path)).text())
    expect(events).toHaveLength(1)
    const told = JSON.parse(events[0]!.data)
    expect(told.error).toMatchObject({ code: 'engine_unreachable', message: expect.stringContaining('did not answer') })
    expect(told.type).toBe(path === '/v1/messages' ? 'error' : undefined)
  })

  test('is told in one line when the engine’s is a page of text', async () => {
    engine.answer((answer) => {
      setTimeout(
        () => answer.writeHead(500, { 'content-type': 'text/html' }).end('<h1>\nInternal\n\nerror\n</h1>'),
        silence,
      )
    })
    const chat = eventsOf(await (await stream()).text()).events
    expect(JSON.parse(chat[0]!.data)).toMatchObject({ error: { message: '<h1>\nInternal\n\nerror\n</h1>', code: 500 } })
    const anthropic = eventsOf(await (await stream('/v1/messages')).text()).events
    expect(JSON.parse(anthropic[0]!.data)).toMatchObject({
      type: 'error',
      error: { type: 'api_error', message: '<h1>\nInternal\n\nerror\n</h1>' },
    })
  })

  test('does not make an answer whole that breaks off in the middle of an event', async () => {
    engine.answer((answer) => {
      setTimeout(() => {
        startStream(answer)
        answer.write('data: {"a":1}\n\ndata: {"b', () => setTimeout(() => answer.destroy(), 50))
      }, silence)
    })
    const client = await connectRaw(proxy.url)
    client.write(rawPost('/v1/chat/completions', { messages: [], stream: true }))
    const received = await client.ended
    expect(received).toContain('data: {"a":1}\n\ndata: {"b')
    expect(received).not.toContain('engine_unreachable')
    expect(received).not.toMatch(/\r\n0\r\n\r\n$/)
  })

  test('is an event when an answer that is no stream comes instead of one', async () => {
    engine.answer((answer) => {
      setTimeout(() => answer.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":[]}'), silence)
    })
    const { events } = eventsOf(await (await stream()).text())
    expect(events.map(({ data }) => data)).toEqual(['{"choices":[]}'])
  })
})
