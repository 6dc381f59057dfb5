import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { KeyRecord } from '#proxy/access/api-keys.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { keysIn } from './keys-file.ts'
import { contentsIn, documentRequest, longBlock, metricOf, namesIn, placedIn } from './placed-blocks.ts'
import { connectRaw } from './raw-client.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { errorOf, type Overrides, postJson, startTestProxy } from './start-test-proxy.ts'

let engine: RecordingEngineDouble
let proxy: RunningProxy

function record(key: string, tenant: string, rest: Partial<KeyRecord> = {}): KeyRecord {
  return { name: key, tenant, sha256: createHash('sha256').update(key).digest('hex'), ...rest }
}

async function restart(
  records: readonly KeyRecord[],
  config: Overrides = {},
  engineConfig: { api_key?: string } = {},
): Promise<void> {
  await proxy?.close()
  proxy = await startTestProxy(
    { url: engine.url, kind: 'vllm', ...engineConfig },
    { ...(records.length > 0 && { keys: keysIn(...records) }), ...config },
  )
}

beforeEach(async () => {
  engine = await startRecordingEngineDouble()
  await restart([record('sk-a', 'alpha'), record('sk-a2', 'alpha'), record('sk-b', 'beta')])
})

afterEach(async () => {
  await proxy.close()
  await engine.close()
})

const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` })

async function ask(body: unknown, headers: Record<string, string>, path = '/v1/chat/completions'): Promise<Response> {
  const response = await postJson(proxy.url + path, body, { headers })
  expect(response.status).toBe(200)
  await response.text()
  return response
}

const last = (): (typeof engine.requests)[number] => engine.requests.at(-1)!
const saltOf = (request = last()): unknown =>
  (JSON.parse(request.body.toString()) as { cache_salt?: unknown }).cache_salt
const predictedIn = (response: Response): number => Number(response.headers.get('x-reprise-predicted-cached-tokens'))

describe('who shows no valid key', () => {
  test('is refused in the shape of each API, on every path', async () => {
    for (const headers of [{}, bearer('sk-c'), { 'x-api-key': 'SK-A' }, { authorization: 'Basic c2stYTo=' }]) {
      for (const path of ['/v1/chat/completions', '/v1/completions', '/v1/responses', '/generate', '/v1/embeddings']) {
        const response = await postJson(proxy.url + path, documentRequest('q', 'AB'), {
          headers: headers as Record<string, string>,
        })
        expect(response.status).toBe(401)
        expect(await errorOf(response)).toMatchObject({ code: 'unauthorized', type: 'invalid_request_error' })
      }
      const anthropic = await postJson(
        `${proxy.url}/v1/messages`,
        { messages: [] },
        { headers: headers as Record<string, string> },
      )
      expect(anthropic.status).toBe(401)
      expect(await anthropic.json()).toMatchObject({
        type: 'error',
        error: { type: 'authentication_error', code: 'unauthorized', message: expect.any(String) },
      })
    }
    expect(engine.requests).toHaveLength(0)
  })

  test('is refused before the body is there', async () => {
    const client = await connectRaw(proxy.url)
    client.write('POST /v1/chat/completions HTTP/1.1\r\nhost: h\r\ncontent-length: 1000000\r\n\r\n{"mess')
    await client.until('"code":"unauthorized"')
    client.reset()
    await once(client.socket, 'close')
  })

  test('learns nothing from the answer about which keys there are', async () => {
    const bodies = await Promise.all(
      ['sk-a0', 'sk', 'x'.repeat(4096)].map(async (key) =>
        (await postJson(`${proxy.url}/v1/chat/completions`, {}, { headers: { 'x-api-key': key } })).text(),
      ),
    )
    expect(new Set(bodies).size).toBe(1)
    expect(bodies[0]).not.toMatch(/alpha|beta|sk-/)
  })
})

test('the engine sees its own key where it has one, and the client’s never', async () => {
  await restart([record('sk-a', 'alpha')], {}, { api_key: 'for the engine' })
  for (const path of ['/v1/chat/completions', '/v1/embeddings'])
    for (const headers of [bearer('sk-a'), { 'x-api-key': 'sk-a' }, { ...bearer('sk-a'), 'X-Api-Key': 'sk-a' }]) {
      await ask(documentRequest('q', 'AB'), headers as Record<string, string>, path)
      expect(last().headers.authorization).toBe('Bearer for the engine')
      expect(last().rawHeaders.join('\n')).not.toContain('sk-a')
    }
})

describe('tenants', () => {
  test('never share order, predictions or salts; keys of one tenant do', async () => {
    await ask(documentRequest('q1', 'ABCD'), bearer('sk-a'))
    const salt = saltOf()
    const other = await ask(documentRequest('q2', 'DCBA'), bearer('sk-b'))
    expect(placedIn(last())).toBe('DCBA')
    expect(other.headers.get('x-reprise-skipped')).toBe('nothing_to_gain')
    expect(predictedIn(other)).toBe(0)
    expect(saltOf()).not.toBe(salt)
    const same = await ask(documentRequest('q3', 'CADB'), bearer('sk-a2'))
    expect(placedIn(last())).toBe('ABCD')
    expect(predictedIn(same)).toBeGreaterThan(0)
    expect(saltOf()).toBe(salt)
  })

  test('are told nothing by the headers of a request that another has sent word for word', async () => {
    const headersFor = async (key: string): Promise<Record<string, string>> => {
      const response = await ask(documentRequest('q', 'CAB'), bearer(key))
      const { date, 'server-timing': timing, 'x-request-id': id, ...headers } = Object.fromEntries(response.headers)
      void [date, id]
      expect(timing!.replaceAll(/[\d.]+/g, '')).toBe('parse;dur=, index;dur=, queue;dur=, engine;dur=')
      return headers
    }
    const first = await headersFor('sk-a')
    expect(await headersFor('sk-b')).toEqual(first)
    expect(await headersFor('sk-a2')).not.toEqual(first)
  })

  test('and users with a cache_salt each are told nothing of what another has sent to the same key', async () => {
    const guess = (names: string, salt: string): Promise<Response> =>
      ask(documentRequest(salt, names, { cache_salt: salt }), bearer('sk-a'))
    await guess('AB', 'alice')
    const headersOf = (response: Response): object => {
      const { date, 'server-timing': timing, 'x-request-id': id, ...headers } = Object.fromEntries(response.headers)
      void [date, timing, id]
      return headers
    }
    expect(headersOf(await guess('AC', 'mallory1'))).toEqual(headersOf(await guess('DC', 'mallory2')))
  })

  test('never share the memory of a conversation, whatever they call it', async () => {
    await ask(documentRequest('q0', 'CBA'), bearer('sk-a'))
    const turns = documentRequest('q1', 'BCD') as { messages: { role: string; content: string }[] }
    const named = { 'x-reprise-conversation': 'the same' }
    await ask(turns, { ...bearer('sk-a'), ...named })
    const sent = contentsIn(last())[1]!
    expect(namesIn(sent)).toBe('CBD')
    turns.messages.push({ role: 'assistant', content: 'yes' }, { role: 'user', content: 'and?' })
    await ask(turns, { ...bearer('sk-b'), ...named })
    expect(contentsIn(last())).toEqual(turns.messages.map(({ content }) => content))
    await ask(turns, { ...bearer('sk-a2'), ...named })
    expect(contentsIn(last())[1]).toBe(sent)
  })

  test('never share explicit blocks of a conversation', async () => {
    const blocks = [...'ABC'].map((name) => ({ text: longBlock(name) }))
    const body = { messages: [{ role: 'user', content: '{{context}}\n\nq' }], reprise: { blocks, conversation: 'c' } }
    await ask(body, bearer('sk-a'))
    const sent = contentsIn(last())[0]
    expect(sent).toContain('[Doc_1] A: ')
    const later = {
      messages: [...body.messages, { role: 'assistant', content: 'x' }, { role: 'user', content: 'more' }],
      reprise: { conversation: 'c' },
    }
    await ask(later, bearer('sk-b'))
    expect(contentsIn(last())[0]).toBe('{{context}}\n\nq')
    expect(last().body.toString()).not.toContain('A1 A2')
    await ask(later, bearer('sk-a2'))
    expect(contentsIn(last())[0]).toBe(sent)
  })

  test('cannot come by another’s salt: a salt of their own is folded in', async () => {
    await ask(documentRequest('q1', 'AB'), bearer('sk-a'))
    const salt = saltOf() as string
    const salts = [salt]
    for (const forged of [salt, 'key:alpha', 'alpha', '9:key:alpha0:', `0:9:key:alpha`]) {
      await ask(documentRequest('q2', 'AB', { cache_salt: forged }), bearer('sk-b'))
      salts.push(saltOf() as string)
    }
    // the last of two duplicate members counts, for us as for the engine
    const body = JSON.stringify(documentRequest('q', 'AB'))
    await ask(`${body.slice(0, -1)},"cache_salt":"x","cache_s\\u0061lt":${JSON.stringify(salt)}}`, bearer('sk-b'))
    expect(saltOf()).toBe(salts[1])
    expect(new Set(salts).size).toBe(salts.length)
    await ask(documentRequest('q2', 'AB', { cache_salt: 'own' }), bearer('sk-a'))
    expect(salts).not.toContain(saltOf())
  })

  test('are named by trusted peers alone', async () => {
    for (const [trusted_peers, isTrusted] of [
      [['10.0.0.0/8', '::2'], false],
      [['127.0.0.1'], true],
    ] as const) {
      await restart([record('sk-a', 'alpha'), record('sk-b', 'beta')], { tenants: { trusted_peers } })
      await ask(documentRequest('q', 'ABC'), { ...bearer('sk-a'), 'x-reprise-tenant': 'one' })
      const one = saltOf()
      await ask(documentRequest('q', 'CBA'), { ...bearer('sk-b'), 'x-reprise-tenant': 'one' })
      expect(saltOf() === one).toBe(isTrusted)
      expect(placedIn(last())).toBe(isTrusted ? 'ABC' : 'CBA')
      await ask(documentRequest('q', 'CBA'), { ...bearer('sk-b'), 'x-reprise-tenant': 'key:alpha' })
      const named = saltOf()
      await ask(documentRequest('q', 'CBA'), bearer('sk-a'))
      // no tenant name gives anyone the tenant of a key
      expect(saltOf()).not.toBe(named)
      expect(last().headers).not.toHaveProperty('x-reprise-tenant')
      // a key is required nevertheless
      const refused = await postJson(`${proxy.url}/v1/chat/completions`, {}, { headers: { 'x-reprise-tenant': 'one' } })
      expect(refused.status).toBe(401)
    }
  })

  test('are kept apart without configured keys, too: by whatever they show', async () => {
    await restart([])
    const salts = new Set<unknown>()
    for (const headers of [{}, bearer('x'), bearer('y'), { 'x-api-key': 'z' }]) {
      await ask(documentRequest('q', 'ABC'), headers as Record<string, string>)
      await ask(documentRequest('q2', 'CBA'), { ...headers, 'x-reprise-tenant': 'same' } as Record<string, string>)
      expect(placedIn(last())).toBe('ABC')
      salts.add(saltOf())
    }
    expect(salts.size).toBe(4)
    await ask(documentRequest('q', 'CAB'), bearer('new'))
    expect(placedIn(last())).toBe('CAB')
  })
})

describe('what would be sent', () => {
  const explain = async (
    headers: Record<string, string>,
  ): Promise<{ order: number[]; predicted_cached_tokens: number }> =>
    (await postJson(`${proxy.adminUrl}/v1/explain`, documentRequest('q9', 'CBA'), { headers })).json() as never

  test('is explained to each tenant from its own past', async () => {
    await ask(documentRequest('q1', 'ABC'), bearer('sk-a'))
    expect(await explain(bearer('sk-a2'))).toMatchObject({ order: [2, 1, 0] })
    expect(await explain(bearer('sk-b'))).toMatchObject({ order: [0, 1, 2], predicted_cached_tokens: 0 })
    // without a key, or with an unknown one, no tenant's history is used
    expect(await explain({})).toMatchObject({ order: [0, 1, 2], predicted_cached_tokens: 0 })
    expect(await explain(bearer('alpha'))).toMatchObject({ order: [0, 1, 2], predicted_cached_tokens: 0 })
    expect(engine.requests).toHaveLength(1)
  })
})

describe('the limits of a key', () => {
  test('are its own: requests a minute, on every path', async () => {
    await restart([record('sk-a', 'alpha', { requests_per_minute: 3 }), record('sk-a2', 'alpha')])
    await ask(documentRequest('q', 'AB'), bearer('sk-a'))
    await ask({ input: 'x' }, bearer('sk-a'), '/v1/embeddings')
    await ask(documentRequest('q', 'AB'), bearer('sk-a'))
    for (const path of ['/v1/chat/completions', '/v1/embeddings', '/v1/messages']) {
      const refused = await postJson(proxy.url + path, documentRequest('q', 'AB'), { headers: bearer('sk-a') })
      expect(refused.status).toBe(429)
      const seconds = Number(refused.headers.get('retry-after'))
      expect(seconds).toBeGreaterThanOrEqual(1)
      expect(seconds).toBeLessThanOrEqual(20)
      expect(await refused.json()).toMatchObject({ error: { code: 'rate_limited' } })
    }
    expect(await metricOf(proxy.adminUrl, 'reprise_rate_limited_total')).toBe(3)
    await ask(documentRequest('q', 'AB'), bearer('sk-a2'))
    expect(engine.requests).toHaveLength(4)
  })

  test('count the prompt tokens that the engine counts, and none of what it never got', async () => {
    await restart([record('sk-a', 'alpha', { prompt_tokens_per_minute: 1000 })])
    // the engine's 8 tokens count, not our estimate of some 200, with which five requests would reach 1,000
    for (let i = 0; i < 12; i++) await ask(documentRequest(`q${i}`, 'AB'), bearer('sk-a'))
    const usage = { prompt_tokens: 5000, completion_tokens: 1, total_tokens: 5001 }
    engine.answer((answer) => {
      answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices: [], usage }))
    })
    await ask(documentRequest('large', 'AB'), bearer('sk-a'))
    const refused = await postJson(`${proxy.url}/v1/chat/completions`, documentRequest('q', 'AB'), {
      headers: bearer('sk-a'),
    })
    expect([refused.status, (await errorOf(refused)).code]).toEqual([429, 'rate_limited'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60)
  })

  test('do not depend on what prompts of other tenants are like', async () => {
    await restart([record('sk-a', 'alpha'), record('sk-b', 'beta', { prompt_tokens_per_minute: 1000 })])
    const answerWith = (prompt_tokens: number): void =>
      engine.answer((answer) => {
        const usage = { prompt_tokens, completion_tokens: 1 }
        answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices: [], usage }))
      })
    answerWith(50_000)
    for (let i = 0; i < 8; i++) await ask(documentRequest(`q${i}`, 'AB'), bearer('sk-a'))
    answerWith(20)
    for (let i = 0; i < 4; i++) await ask(documentRequest(`q${i}`, 'AB'), bearer('sk-b'))
  })

  test('of cold tokens count what the engine computed, not what it had', async () => {
    await restart([record('sk-a', 'alpha', { cold_tokens_per_minute: 1000 })])
    const send = (): Promise<Response> =>
      postJson(`${proxy.url}/v1/chat/completions`, documentRequest('q', 'AB'), { headers: bearer('sk-a') })
    const answerWith = (cached_tokens: number): void =>
      engine.answer((answer) => {
        const usage = { prompt_tokens: 5000, completion_tokens: 1, prompt_tokens_details: { cached_tokens } }
        answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices: [], usage }))
      })
    answerWith(4990)
    for (let i = 0; i < 8; i++) expect((await send()).status).toBe(200)
    // a stream without usage tells nothing of the cache
    engine.answer((answer) => answer.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":[]}'))
    for (let i = 0; i < 12; i++) await (await send()).text()
    const refused = await send()
    expect([refused.status, refused.headers.get('x-ratelimit-limit-tokens')]).toEqual([429, '1000'])
    await restart([record('sk-a', 'alpha', { cold_tokens_per_minute: 1000 })])
    answerWith(0)
    await (await send()).text()
    expect(Number((await send()).headers.get('retry-after'))).toBeGreaterThan(60)
  })

  test('are not used up by requests that never reach an engine', async () => {
    await restart([record('sk-a', 'alpha', { prompt_tokens_per_minute: 1000 })])
    await engine.close()
    for (let i = 0; i < 6; i++) {
      const failed = await postJson(`${proxy.url}/v1/chat/completions`, documentRequest(`q${i}`, 'ABC'), {
        headers: bearer('sk-a'),
      })
      expect([failed.status, (await errorOf(failed)).code]).toEqual([502, 'engine_unreachable'])
    }
    engine = await startRecordingEngineDouble(engine.port)
    await ask(documentRequest('q', 'ABC'), bearer('sk-a'))
  })
})
