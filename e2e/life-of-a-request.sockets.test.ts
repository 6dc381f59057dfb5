import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { metricOf } from './placed-blocks.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { errorOf, postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'

let engine: RecordingEngineDouble
let proxy: RunningProxy
let chatUrl: string

async function restartProxy(
  ...[overrides, config]: [Record<string, string>?, Parameters<typeof startTestProxy>[1]?]
): Promise<void> {
  await proxy?.close()
  proxy = await startTestProxy({ url: engine.url, ...overrides }, config)
  chatUrl = `${proxy.url}/v1/chat/completions`
}

beforeEach(async () => {
  engine = await startRecordingEngineDouble()
  proxy = await startTestProxy({ url: engine.url })
  chatUrl = `${proxy.url}/v1/chat/completions`
})

afterEach(async () => {
  await proxy.close()
  await engine.close()
})

describe('a chat completion request', () => {
  test('is aligned with what was sent before, and its headers say so', async () => {
    await postJson(chatUrl, ragRequest('q1', ['a', 'b', 'c']))
    const response = await postJson(chatUrl, ragRequest('q2', ['d', 'b', 'a']), { headers: { 'x-request-id': 'mine' } })
    const sent = JSON.parse(engine.requests[1]!.body.toString()).messages[1].content as string
    expect([...sent.matchAll(/index="(\d)">\n(\w)\n/g)].map(([, label, text]) => label! + text)).toEqual([
      '1a',
      '2b',
      '3d',
    ])
    expect(sent).toContain(
      '</documents>\n\nPlease read the context in the following priority order: [3] > [2] > [1] and',
    )
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-request-id': 'mine',
      'x-reprise-replica': 'engine',
      'x-reprise-blocks': '3',
      'x-reprise-moved': '2',
      'x-reprise-deduplicated': '0',
      'server-timing': expect.stringMatching(
        /^parse;dur=[\d.]+, index;dur=[\d.]+, queue;dur=[\d.]+, engine;dur=[\d.]+$/,
      ),
    })
    expect(Number(response.headers.get('x-reprise-predicted-cached-tokens'))).toBeGreaterThan(0)
    expect(response.headers.get('x-reprise-skipped')).toBeNull()
  })

  test.each([
    ['a message', (deep: string) => `{"model":"m","messages":[{"role":"user","content":"hi","x":${deep}}]}`],
    ['tools', (deep: string) => `{"model":"m","tools":${deep},"messages":[{"role":"user","content":"hi"}]}`],
  ])('with %s nested too deeply for us goes byte for byte, and that is counted', async (_, write) => {
    const body = write('['.repeat(20_000) + ']'.repeat(20_000))
    const response = await postJson(chatUrl, body)
    expect(response.status).toBe(200)
    expect(response.headers.get('x-reprise-skipped')).toBe('too_large_to_rewrite')
    expect(engine.requests[0]!.body.toString()).toBe(body)
    const metrics = await (await fetch(`${proxy.adminUrl}/metrics`)).text()
    expect(metrics).toContain('reprise_fail_open_total{reason="too_large_to_rewrite"} 1')
  })

  test('with nothing to gain goes byte for byte, whatever is in it', async () => {
    const body =
      '{ "seed": 12345678901234567890, "n":1.0, "n":1, "tool_calls": null, "unknown": {"a":[1e400]}, "messages" :\n' +
      '[{"role":"user","content":"caf\\u00e9 \\ud800 \u2028 [1] not a list"},{"role":"assistant","tool_calls":null,"content":null},' +
      '{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}},' +
      '{"type":"input_audio","input_audio":{"data":"","format":"wav"}},{"type":"text","text":"hello"}]}]}\n'
    const response = await postJson(chatUrl, body)
    expect(response.status).toBe(200)
    expect(engine.requests[0]!.body.toString()).toBe(body)
    expect(response.headers.get('x-reprise-skipped')).toBe('no_blocks')
  })

  test('valid JSON of another shape, and what is compressed, is the engine’s to judge', async () => {
    for (const body of ['[1, 2]', '"x"', '{"messages":"x"}']) await postJson(chatUrl, body)
    expect(engine.requests.map(({ body }) => body.toString())).toEqual(['[1, 2]', '"x"', '{"messages":"x"}'])
    const bytes = Buffer.from([0x1f, 0x8b, 0xff])
    await fetch(chatUrl, { method: 'POST', body: bytes, headers: { 'content-encoding': 'gzip' } })
    expect(engine.requests[3]!.body).toEqual(bytes)
  })

  test('that is not JSON is answered with 400 and not forwarded', async () => {
    for (const body of ['{"messages":[', '', 'NaN', '{"a":01}', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])]) {
      const response = await fetch(chatUrl, { method: 'POST', body })
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({
        error: { code: 'invalid_body', type: 'invalid_request_error', param: null },
      })
    }
    expect(engine.requests).toEqual([])
  })

  test('with options that are unknown is answered with 400', async () => {
    const response = await postJson(chatUrl, ragRequest('q', ['a']), {
      headers: { 'x-reprise-options': 'reorder=perhaps' },
    })
    expect(response.status).toBe(400)
    expect((await errorOf(response)).message).toContain('reorder=on|off')
  })

  test('with a priority that is no whole number is answered with 400', async () => {
    for (const priority of ['soon', '1.5', ' ']) {
      const response = await postJson(chatUrl, ragRequest('q', ['a']), { headers: { 'x-reprise-priority': priority } })
      // a header of only blanks arrives empty
      expect(response.status).toBe(400)
      expect((await errorOf(response)).message).toContain('x-reprise-priority')
    }
    const accepted = await postJson(chatUrl, ragRequest('q', ['a']), { headers: { 'x-reprise-priority': '-3' } })
    expect(accepted.status).toBe(200)
  })

  test('can switch reordering off', async () => {
    await postJson(chatUrl, ragRequest('q1', ['a', 'b', 'c']))
    const body = JSON.stringify(ragRequest('q2', ['d', 'b', 'a']))
    const response = await postJson(chatUrl, body, { headers: { 'x-reprise-options': 'reorder=off' } })
    expect(engine.requests[1]!.body.toString()).toBe(body)
    expect(response.headers.get('x-reprise-skipped')).toBe('reorder_off')
    expect(engine.requests[1]!.headers).not.toHaveProperty('x-reprise-options')
  })

  test('above the body limit is answered with 413', async () => {
    await restartProxy({}, { limits: { body_bytes: 1000 } })
    const response = await postJson(chatUrl, ragRequest('q', ['x'.repeat(2000)]))
    expect(response.status).toBe(413)
    expect((await errorOf(response)).code).toBe('body_too_large')
    expect(engine.requests).toEqual([])
  })

  test.each([
    ['2 MB', 1_000, '2000'],
    ['20 MB, which is too large to be rewritten,', 10_000, '0'],
  ])('of %s with 2,000 blocks, empty ones among them, keeps them all', async (_, size, found) => {
    const blocks = Array.from({ length: 2000 }, (_, i) => (i % 100 === 7 ? '' : `block ${i} ${'x'.repeat(size)}`))
    await postJson(chatUrl, ragRequest('q1', blocks))
    const response = await postJson(chatUrl, ragRequest('q2', blocks.toReversed()))
    expect(response.headers.get('x-reprise-blocks')).toBe(found)
    const contents = engine.requests.map(({ body }) => JSON.parse(body.toString()).messages[1].content as string)
    const [first, second] = contents.map((content) =>
      [...content.matchAll(/">\n([^<]*)\n<\/document>/g)].map(([, text]) => text),
    )
    expect(first).toEqual(blocks)
    expect(second).toEqual(found === '0' ? blocks.toReversed() : blocks)
    expect(await metricOf(proxy.adminUrl, 'reprise_fail_open_total{reason="templates"}')).toBe(0)
  })

  test('made of markers only, or with a block that stands twice, loses nothing', async () => {
    const send = async (content: string): Promise<string> => {
      await postJson(chatUrl, { messages: [{ role: 'user', content }] })
      return JSON.parse(engine.requests.at(-1)!.body.toString()).messages[0].content
    }
    for (const content of [
      '<document></document>',
      '[1]\n[2]\n[3]',
      '<document><document><document>',
      '[Doc_1][Doc_2]',
    ]) {
      expect(await send(content)).toBe(content)
    }
    await postJson(chatUrl, ragRequest('q', ['b', 'a']))
    await postJson(chatUrl, ragRequest('q', ['a', 'c', 'a', 'b']))
    const sent = JSON.parse(engine.requests.at(-1)!.body.toString()).messages[1].content as string
    const texts = [...sent.matchAll(/">\n(\w)\n/g)].map(([, text]) => text)
    expect(texts.slice(0, 2)).toEqual(['b', 'a'])
    expect(texts.toSorted()).toEqual(['a', 'a', 'b', 'c'])
  })
})

describe('tags', () => {
  test('vLLM gets the request id and a salt for the tenant, with the client’s own folded in', async () => {
    await restartProxy({ kind: 'vllm' })
    const send = async (headers: Record<string, string>, rest = {}): Promise<{ salt: string; id: unknown }> => {
      await postJson(chatUrl, ragRequest('q', ['a'], rest), { headers })
      const { body, headers: sent } = engine.requests.at(-1)!
      return { salt: JSON.parse(body.toString()).cache_salt, id: sent['x-request-id'] }
    }
    const one = await send({ authorization: 'Bearer one', 'x-request-id': 'r-1' })
    const again = await send({ authorization: 'Bearer one', 'x-request-id': 'r-1' })
    const other = await send({ authorization: 'Bearer other' })
    const salted = await send({ authorization: 'Bearer other' }, { cache_salt: one.salt })
    expect(one.id).toBe('r-1')
    // the id is still mirrored, so the engine must not see it twice
    expect(again.id).toMatch(/^r-1-[0-9a-f]{8}$/)
    expect(again.salt).toBe(one.salt)
    expect(new Set([one.salt, other.salt, salted.salt]).size).toBe(3)
  })

  test('a body of another shape gets its tenant’s salt too, and no client’s salt is trusted alone', async () => {
    await restartProxy({ kind: 'vllm' })
    for (const body of [
      '{"messages":5,"cache_salt":"stolen"}',
      '{"messages":[{"role":"user","content":["x"]}],"cache_salt":"stolen"}',
      '{}',
    ]) {
      await postJson(chatUrl, body)
      const { cache_salt: salt } = JSON.parse(engine.requests.at(-1)!.body.toString())
      expect(salt).toMatch(/^[\w-]{43}$/)
    }
  })

  test('but for the tags the body stays byte for byte', async () => {
    await restartProxy({ kind: 'sglang' })
    const body = '{"seed":12345678901234567890,"messages":[{"role":"user","content":"x"}]}'
    await postJson(chatUrl, body, { headers: { 'x-request-id': 'r-1' } })
    const sent = engine.requests[0]!.body.toString()
    expect(sent).toMatch(/^\{("rid":"r-1",|"cache_salt":"[\w-]+",){2}"seed":12345678901234567890,/)
    expect(sent.endsWith(body.slice(1))).toBe(true)
  })
})

describe('everything else', () => {
  test('passes byte for byte, both ways', async () => {
    const blob = randomBytes(300_000)
    engine.answer((response, request) => {
      response.writeHead(207, 'Odd', { 'x-engine': ['a', 'b'], 'content-type': 'application/octet-stream' })
      response.end(request.body)
    })
    const response = await fetch(`${proxy.url}/v1/some%20path/x?a=1&b=%2F`, {
      method: 'PUT',
      body: blob,
      headers: { 'X-Own': 'y' },
    })
    expect(response.status).toBe(207)
    expect(response.headers.get('x-engine')).toBe('a, b')
    expect(Buffer.from(await response.arrayBuffer())).toEqual(blob)
    const [recorded] = engine.requests
    expect(recorded).toMatchObject({ method: 'PUT', url: '/v1/some%20path/x?a=1&b=%2F' })
    expect(recorded!.headers['x-own']).toBe('y')
    expect(recorded!.headers.host).toBe(`127.0.0.1:${engine.port}`)
  })

  test('GET, HEAD, DELETE and errors of the engine pass', async () => {
    engine.answer((response, { method }) => {
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end(method === 'HEAD' ? undefined : '{"error":"engine’s own"}')
    })
    for (const method of ['GET', 'HEAD', 'DELETE']) {
      const response = await fetch(`${proxy.url}/v1/models/none`, { method })
      expect(response.status).toBe(404)
      expect(await response.text()).toBe(method === 'HEAD' ? '' : '{"error":"engine’s own"}')
    }
    const response = await postJson(chatUrl, ragRequest('q', ['a', 'b']))
    expect(response.status).toBe(404)
    expect(await response.text()).toBe('{"error":"engine’s own"}')
  })
})

describe('streams', () => {
  test('reach the client chunk by chunk as the engine wrote them', async () => {
    const parts = ['data: {"a":1}\n\n', ': comment\n', 'data: {"b"', ':2}\n\ndata: [DONE]\n\n']
    const gates = parts.map(() => withResolvers())
    engine.answer(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const [i, part] of parts.entries()) {
        response.write(part)
        await gates[i]!.promise
      }
      response.end()
    })
    const response = await postJson(chatUrl, ragRequest('q', ['a', 'b'], { stream: true }))
    const reader = response.body!.getReader()
    for (const [i, part] of parts.entries()) {
      // the next part is written only once this one has arrived
      expect(Buffer.from((await reader.read()).value!).toString()).toBe(part)
      gates[i]!.resolve(undefined)
    }
    expect((await reader.read()).done).toBe(true)
  })

  test('go at the client’s pace: a reader that stops makes the engine stop', async () => {
    const chunk = Buffer.alloc(64 * 1024, 'x')
    let written = 0
    engine.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const push = (): void => {
        while (written < 200 * 1024 * 1024 && !response.destroyed) {
          written += chunk.length
          if (!response.write(chunk)) {
            response.once('drain', push)
            return
          }
        }
      }
      push()
    })
    const outgoing = httpRequest(chatUrl, { method: 'POST', headers: { 'content-type': 'application/json' } })
    outgoing.end(JSON.stringify(ragRequest('q', ['a'])))
    const [incoming] = await once(outgoing, 'response')
    incoming.pause()
    await delay(500)
    const stalled = written
    await delay(500)
    expect(written).toBe(stalled)
    expect(stalled).toBeLessThan(64 * 1024 * 1024)
    outgoing.destroy()
  })

  test('a broken engine breaks the client’s stream, so that it is not taken for whole', async () => {
    engine.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"half"', () => response.destroy())
    })
    const response = await postJson(chatUrl, ragRequest('q', ['a']))
    await expect(response.text()).rejects.toThrow()
  })
})

describe('a client that leaves', () => {
  test('before the head aborts the engine’s work', async () => {
    engine.answer(() => {})
    const aborter = new AbortController()
    const answer = postJson(chatUrl, ragRequest('q', ['a']), { signal: aborter.signal })
    await until(() => engine.requests.length === 1)
    aborter.abort()
    await expect(answer).rejects.toThrow()
    await engine.abortions[0]
    expect(await metric('reprise_stream_aborts_total{phase="before_head"}')).toBe(1)
  })

  test('in mid-stream aborts the engine’s work', async () => {
    engine.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {}\n\n')
    })
    const aborter = new AbortController()
    const response = await postJson(chatUrl, ragRequest('q', ['a']), { signal: aborter.signal })
    await response.body!.getReader().read()
    aborter.abort()
    await engine.abortions[0]
    expect(await metric('reprise_stream_aborts_total{phase="mid_stream"}')).toBe(1)
  })

  test('while it waits in the queue never reaches the engine', async () => {
    await restartProxy({}, { groupWindowMilliseconds: 5_000 })
    engine.answer(() => {})
    const aborter = new AbortController()
    const busy = postJson(chatUrl, ragRequest('q1', ['a']), { signal: aborter.signal }).catch(() => {})
    await until(() => engine.requests.length === 1)
    const waiting = postJson(chatUrl, ragRequest('q2', ['a']), { signal: aborter.signal }).catch(() => {})
    await until(async () => (await metric('reprise_queue_depth')) === 1)
    aborter.abort()
    await Promise.all([busy, waiting])
    await until(async () => (await metric('reprise_queue_depth')) === 0)
    expect(engine.requests).toHaveLength(1)
    expect(await metric('reprise_stream_aborts_total{phase="queue"}')).toBe(1)
  })

  test('under load, at any moment, ends nothing but its own request', async () => {
    engine.answer(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (let i = 0; i < 20 && !response.destroyed; i++) {
        response.write(`data: {"i":${i}}\n\n`)
        await delay(2)
      }
      response.end()
    })
    const clients = Array.from({ length: 200 }, async (_, i) => {
      const aborter = new AbortController()
      const isStayer = i % 4 === 0
      if (!isStayer) setTimeout(() => aborter.abort(), i % 60)
      const text = await postJson(chatUrl, ragRequest(`q${i}`, ['a', String(i)]), { signal: aborter.signal }).then(
        (r) => r.text(),
      )
      return isStayer ? text.match(/data/g)!.length : 0
    })
    const ended = await Promise.allSettled(clients)
    const stayers = ended.filter((_, i) => i % 4 === 0)
    expect(stayers).toEqual(stayers.map(() => ({ status: 'fulfilled', value: 20 })))
    expect((await postJson(chatUrl, ragRequest('after', ['a']))).status).toBe(200)
  })
})

describe('the engine', () => {
  test('down is 502 engine_unreachable, and requests go through again when it returns', async () => {
    const { port } = engine
    await engine.close()
    const response = await postJson(chatUrl, ragRequest('q', ['a', 'b']))
    expect(response.status).toBe(502)
    // behind a Kubernetes Service, a new connection may lead to another proxy
    expect(response.headers.get('connection')).toBe('close')
    expect(await errorOf(response)).toMatchObject({ code: 'engine_unreachable', type: 'server_error' })
    expect((await fetch(`${proxy.url}/v1/models`)).status).toBe(502)
    engine = await startRecordingEngineDouble(port)
    expect((await postJson(chatUrl, ragRequest('q', ['a', 'b']))).status).toBe(200)
  })

  test('that breaks off before its head is 502, on every path, with or without a body', async () => {
    engine.answer((response) => response.socket!.resetAndDestroy())
    const urls = [chatUrl, `${proxy.url}/v1/embeddings`]
    for (const url of urls) {
      const response = await postJson(url, ragRequest('q', ['a']))
      expect(response.status).toBe(502)
      expect((await errorOf(response)).code).toBe('engine_unreachable')
    }
    expect((await fetch(`${proxy.url}/v1/models`)).status).toBe(502)
  })

  test('declares headers of its connection, which end here', async () => {
    engine.answer((response) =>
      response.writeHead(200, { connection: 'close, x-hop', 'x-hop': '1', 'x-own': '2' }).end('{}'),
    )
    const response = await fetch(`${proxy.url}/v1/models`)
    expect([response.headers.get('x-hop'), response.headers.get('x-own')]).toEqual([null, '2'])
  })

  test('that refuses a request caches nothing of it', async () => {
    engine.answer((response) => response.writeHead(400).end('{}'))
    await postJson(chatUrl, ragRequest('q', ['a', 'b']))
    expect(await (await fetch(`${proxy.adminUrl}/v1/index`)).json()).toMatchObject({ requests: 0, nodes: 0 })
  })
})

async function metric(name: string): Promise<number | undefined> {
  const text = await (await fetch(`${proxy.adminUrl}/metrics`)).text()
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `))
  return line === undefined ? undefined : Number(line.slice(name.length))
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(5)
}

function withResolvers(): { promise: Promise<unknown>; resolve: (value: unknown) => void } {
  let resolve: (value: unknown) => void = () => {}
  const promise = new Promise<unknown>((resolved) => {
    resolve = resolved
  })
  return { promise, resolve }
}
