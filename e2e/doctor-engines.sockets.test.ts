import type { ServerResponse } from 'node:http'
import { pack } from 'msgpackr'
import { afterEach, describe, expect, test } from 'vitest'
import { Publisher } from 'zeromq'
import {
  encodePickle,
  vllmBlockHashes,
  vllmDefaultSeed,
  vllmEventHash,
} from '#engine-adapters/block-hash/vllm-block-hash.ts'
import { EventPublisherDouble } from '#engine-adapters/kv-events/publisher-double.fixture.ts'
import { findExchange, type Recording, readRecordings } from '#engine-adapters/recorder/read-recorded.fixture.ts'
import { findFreePort } from './demo/find-free-port.ts'
import { examine, find, type levelsOf } from './examine-engine.ts'
import { type RecordedRequest, startRecordingEngineDouble } from './recording-engine-double.ts'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()))
})

interface Answer {
  readonly status: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

const notFound: Answer = { status: 404, body: '{"detail":"Not Found"}' }
const ok = (body: unknown): Answer => ({ status: 200, body: typeof body === 'string' ? body : JSON.stringify(body) })

/** Replays an engine's recorded answers by path, except for `changes` and `refuse`. Calls `computed` per completion. */
async function startReplay(
  recording: Recording,
  changes: Readonly<Record<string, Answer>> = {},
  computed: () => Promise<void> = async () => {},
  refuse: (body: Buffer) => Answer | undefined = () => undefined,
): Promise<string> {
  const double = await startRecordingEngineDouble(0, true)
  closers.push(() => double.close())
  const nameOf = nameChats()
  const answerTo = ({ url, body }: RecordedRequest): Answer => {
    if (changes[url]) return changes[url]
    if (url === '/v1/chat/completions') return refuse(body) ?? findExchange(recording, nameOf(body)).answer
    const recorded = recording.exchanges.find(({ path, name }) => path === url && name.startsWith('doctor'))
    return recorded?.answer ?? notFound
  }
  double.answer((response, request) => {
    const { status, body, headers } = answerTo(request)
    const send = (): ServerResponse => response.writeHead(status, { ...headers }).end(body)
    if (request.url === '/v1/chat/completions') void computed().then(send)
    else send()
  })
  return double.url
}

/** Returns a function that identifies the doctor's probes by their salts. */
function nameChats(): (body: Buffer) => string {
  const seen = new Map<string, number>()
  return (body) => {
    const { cache_salt: salt } = JSON.parse(String(body)) as { cache_salt?: string }
    if (salt === undefined) return 'doctor greeting'
    const times = seen.get(salt) ?? 0
    seen.set(salt, times + 1)
    if (seen.size > 1) return 'doctor other salt'
    return ['doctor first', 'doctor repeat'][times] ?? 'doctor second repeat'
  }
}

const recordings = readRecordings()
const only = (engine: string, configuration = 'reporting'): Recording =>
  recordings.find((recording) => recording.engine === engine && recording.configuration === configuration)!
const pages = { vllm: 32, sglang: 16 }
const toBeMended = (report: Parameters<typeof levelsOf>[0]): string[] =>
  report.findings.filter(({ level, check }) => level !== 'ok' && check !== 'mirror').map(({ check }) => check)

/** Returns SGLang's recorded /server_info with `changes` applied. */
function sglangInfo(changes: Record<string, unknown>): Record<string, Answer> {
  const info = JSON.parse(findExchange(only('sglang'), 'doctor /server_info').answer.body) as Record<string, unknown>
  return { '/server_info': ok({ ...info, ...changes }) }
}

/** The findings expected per engine and recorded configuration: check, level and the flag that its fix names. */
const expected = {
  vllm: {
    reporting: {},
    plain: { cached_tokens: ['warning', '--enable-prompt-tokens-details'] },
    'no-cache': { prefix_caching: ['fatal', '--no-enable-prefix-caching'] },
  },
  sglang: {
    reporting: {},
    plain: {
      cached_tokens: ['warning', '--enable-cache-report'],
      reports: ['warning', '--radix-cache-backend reprise'],
    },
    'no-cache': {
      prefix_caching: ['fatal', '--disable-radix-cache'],
      reports: ['warning', '--disable-radix-cache'],
    },
  },
} as const
const titled = recordings.map((one) => [`${one.engine} ${one.version}, ${one.configuration}`, one] as const)

describe.each(titled)('what %s has answered', (_, recording) => {
  test('is judged as it was started', async () => {
    const { engine: kind, configuration, version } = recording
    const faults: Record<string, readonly [string, string]> = expected[kind][configuration as 'plain']
    const report = await examine(`${await startReplay(recording)},kind=${kind}`)
    expect(find(report, 'kind').found).toContain(version)
    // the recorded engines have a context of only 512 tokens
    expect(toBeMended(report).toSorted()).toEqual(['context_length', ...Object.keys(faults)].toSorted())
    for (const [check, [level, flag]] of Object.entries(faults)) {
      expect(find(report, check)).toMatchObject({ level, fix: expect.stringContaining(flag) })
    }
    expect(find(report, 'page_size').found).toContain(`${pages[kind]} tokens`)
  })
})

test('an engine that embeds and knows no chats is as it should be beside those that do', async () => {
  const answers: Record<string, Answer> = {
    '/v1/models': ok({ object: 'list', data: [{ id: 'embedder', object: 'model', owned_by: 'infinity' }] }),
    '/v1/embeddings': ok({ object: 'list', data: [{ index: 0, embedding: [0.5] }] }),
    '/v1/chat/completions': notFound,
  }
  const report = await examine(await startReplay(recordings[0]!, answers))
  expect(find(report, 'prefix_caching')).toMatchObject({ level: 'ok', found: expect.stringContaining('embeddings') })
  expect(report.fatal).toBe(0)
  const listless = await startReplay(recordings[0]!, { ...answers, '/v1/models': notFound })
  expect((await examine(listless)).fatal).toBe(1)
  const stated = await examine('', { engine: { url: listless, kind: 'openai', models: ['embedder'] } })
  expect([stated.fatal, find(stated, 'engine').found]).toEqual([0, expect.stringContaining('embedder')])
  const chatless = await startReplay(recordings[0]!, { ...answers, '/v1/embeddings': notFound })
  expect(find(await examine(chatless), 'prefix_caching').level).toBe('fatal')
})

describe.each([only('vllm'), only('sglang')])('$engine, whose tokenizer takes many tokens for a word,', (recording) => {
  const tooLong = findExchange(recording, 'fault: too long a prompt').answer
  const refuseFrom = (words: number) => (body: Buffer) => (String(body).split(' ').length > words ? tooLong : undefined)

  test('is sent a shorter prompt, until it fits', async () => {
    const url = await startReplay(recording, {}, undefined, refuseFrom(60))
    expect(toBeMended(await examine(`${url},kind=${recording.engine}`))).toEqual(['context_length'])
  })

  test('and reads none of any use, is fatal, in its own words', async () => {
    const url = await startReplay(recording, {}, undefined, refuseFrom(10))
    const events = `,events=tcp://127.0.0.1:${await findFreePort()}`
    const report = await examine(`${url},kind=${recording.engine}${events}`)
    expect(find(report, 'prefix_caching')).toMatchObject({
      level: 'fatal',
      found: expect.stringMatching(/answered with 400: .*context length/),
    })
  })
})

describe("an engine's own events", () => {
  /** A stored-block event in the form both engines publish. */
  const stored = (hash: number | bigint): unknown => [
    1,
    [{ type: 'BlockStored', block_hashes: [hash], parent_block_hash: null, token_ids: [1, 2], block_size: 2 }],
    0,
  ]

  async function startPublisher(): Promise<EventPublisherDouble> {
    const publisher = await new EventPublisherDouble().start()
    closers.push(() => publisher.stop())
    return publisher
  }

  async function examineWith(
    publisher: Pick<EventPublisherDouble, 'eventsUrl' | 'replayUrl'>,
    computed: () => Promise<void>,
    changes: Readonly<Record<string, Answer>> = {},
    kind: 'vllm' | 'sglang' = 'vllm',
  ): ReturnType<typeof examine> {
    const replay = publisher.replayUrl === '' ? '' : `,replay=${publisher.replayUrl}`
    const url = await startReplay(only(kind), changes, computed)
    return examine(`${url},kind=${kind},events=${publisher.eventsUrl}${replay}`)
  }

  test('that arrive, and can be asked for again, are fine', async () => {
    const publisher = await startPublisher()
    let hash = 0
    const report = await examineWith(publisher, () => publisher.publish(pack(stored(++hash))))
    expect(find(report, 'events')).toMatchObject({ level: 'ok', found: expect.stringMatching(/stored blocks? w/) })
    expect(find(report, 'replay')).toMatchObject({ level: 'ok' })
    expect(find(report, 'token_endpoint')).toMatchObject({ level: 'ok' })
    expect(toBeMended(report)).toEqual(['context_length'])
  })

  test('of an engine that reuses at any position are a warning where nothing tells what is exact', async () => {
    const publisher = await startPublisher()
    const recorded = findExchange(only('vllm'), 'doctor /metrics').answer.body
    const reused = 'vllm:reprise_prompt_tokens_total{engine="0",kind="reused",model_name="m"} 80.0'
    const metrics = { '/metrics': ok(`${recorded}\n${reused}\n`) }
    let hash = 0
    const report = await examineWith(publisher, () => publisher.publish(pack(stored(++hash))), metrics)
    expect(find(report, 'events')).toMatchObject({
      level: 'warning',
      found: expect.stringContaining('reuses KV at any position'),
      fix: expect.stringContaining('--prefix-caching-hash-algo sha256'),
    })
    // the hash of a prompt's first block with vLLM's default seed and encoding
    const known = vllmEventHash(vllmBlockHashes([1, 2], 2, { seed: vllmDefaultSeed, encode: encodePickle })[0]!)
    const hashed = await examineWith(publisher, () => publisher.publish(pack(stored(known))), metrics)
    expect(find(hashed, 'events').level).toBe('ok')
  })

  test('that nobody publishes are a warning with the flag, and the ports that were given', async () => {
    const [eventsPort, replayPort] = [await findFreePort(), await findFreePort()]
    const publisher = { eventsUrl: `tcp://127.0.0.1:${eventsPort}`, replayUrl: `tcp://127.0.0.1:${replayPort}` }
    const silence = async (): Promise<void> => {}
    // in parallel, because each waits for a publisher
    const [report, publishes, silent] = await Promise.all([
      examineWith(publisher, silence),
      examineWith(publisher, silence, {}, 'sglang'),
      examineWith(publisher, silence, sglangInfo({ kv_events: null }), 'sglang'),
    ])
    expect(find(report, 'events')).toMatchObject({
      level: 'warning',
      found: expect.stringContaining('nobody publishes'),
    })
    expect(find(report, 'events').fix).toContain(
      `start vLLM with --kv-events-config '{"enable_kv_cache_events":true,"publisher":"zmq","endpoint":"tcp://*:${eventsPort}","replay_endpoint":"tcp://*:${replayPort}"}'`,
    )
    expect(find(publishes, 'events').fix).toMatch(/^write events=tcp:\/\/HOST:\d+,replay=tcp:\/\/HOST:\d+, where/)
    expect(find(silent, 'events').fix).toContain(
      `start SGLang with --kv-events-config '{"publisher":"zmq","endpoint":"tcp://*:${eventsPort}"`,
    )
  })

  test('of another engine, which stay away while this one computes, are a warning', async () => {
    const publisher = await startPublisher()
    const report = await examineWith(publisher, async () => {})
    expect(find(report, 'events')).toMatchObject({
      level: 'warning',
      found: expect.stringContaining('nothing was published while the engine computed'),
    })
  })

  test('of an engine that answers no prompt cannot be judged', async () => {
    const { eventsUrl } = await startPublisher()
    const refused = { status: 500, body: '{"error":{"message":"out of memory"}}' }
    const url = await startReplay(only('vllm'), {}, undefined, () => refused)
    const report = await examine(`${url},kind=vllm,events=${eventsUrl}`)
    expect(find(report, 'prefix_caching').found).toContain('answered with 500: out of memory')
    expect(find(report, 'events').level).toBe('not_checked')
  })

  test('that do not say what is stored are a warning', async () => {
    const publisher = await startPublisher()
    const report = await examineWith(publisher, () => publisher.publish(pack([1, [{ type: 'AllBlocksCleared' }], 0])))
    expect(find(report, 'events').found).toContain('no stored block was reported')
  })

  test('that are none are a warning', async () => {
    const publisher = new Publisher({ linger: 0 })
    await publisher.bind('tcp://127.0.0.1:*')
    closers.push(async () => publisher.close())
    const chatter = { eventsUrl: publisher.lastEndpoint!, replayUrl: '' }
    const report = await examineWith(chatter, () => publisher.send('good morning'))
    expect(find(report, 'events')).toMatchObject({ level: 'warning', found: expect.stringContaining('not understood') })
  })

  test('that cannot be asked for again are a warning', async () => {
    const publisher = await startPublisher()
    let hash = 0
    const publish = (): Promise<void> => publisher.publish(pack(stored(++hash)))
    const without = await examineWith({ eventsUrl: publisher.eventsUrl, replayUrl: '' }, publish)
    expect(find(without, 'replay')).toMatchObject({ level: 'warning', fix: expect.stringContaining('replay=') })
    publisher.isAnswering = false
    expect(find(await examineWith(publisher, publish), 'replay')).toMatchObject({
      level: 'warning',
      found: expect.stringContaining('does not answer'),
    })
  })

  test('cannot be tied to all requests by an engine that does not render, and to none without its tokens', async () => {
    const publisher = await startPublisher()
    let hash = 0
    const publish = (): Promise<void> => publisher.publish(pack(stored(++hash)))
    const render = '/v1/chat/completions/render'
    const disabled = only('vllm', 'plain').exchanges.find(({ path }) => path === render)!.answer
    expect(disabled.status).toBe(403)
    const tokenising = await examineWith(publisher, publish, { [render]: disabled })
    expect(find(tokenising, 'token_endpoint')).toMatchObject({
      level: 'warning',
      found: expect.stringContaining('only plain chats'),
      fix: 'start vLLM with --enable-scale-out',
    })
    const silent = await examineWith(publisher, publish, { [render]: disabled, '/tokenize': notFound })
    expect(find(silent, 'token_endpoint').found).toContain('cannot be tied to requests')
    const sglang = await examineWith(publisher, publish, { '/tokenize': notFound }, 'sglang')
    expect(find(sglang, 'token_endpoint')).toMatchObject({
      level: 'warning',
      fix: expect.stringContaining('/tokenize'),
    })
  })
})

describe('how an engine was started', () => {
  const started = async (changes: Record<string, unknown>, settings = ''): ReturnType<typeof examine> =>
    examine(`${await startReplay(only('sglang'), sglangInfo(changes))},kind=sglang${settings}`)

  test('with data-parallel ranks behind one URL it is no replica', async () => {
    expect(find(await started({ dp_size: 2 }), 'replicas')).toMatchObject({
      level: 'warning',
      fix: expect.stringContaining('--dp-size 1'),
    })
    const metrics = findExchange(only('vllm'), 'doctor /metrics').answer.body
    const ranks = metrics + metrics.replaceAll('engine="0"', 'engine="1"')
    const report = await examine(`${await startReplay(only('vllm'), { '/metrics': ok(ranks) })},kind=vllm`)
    expect(find(report, 'replicas')).toMatchObject({
      level: 'warning',
      found: expect.stringMatching(/^2 data-parallel ranks/),
      fix: expect.stringContaining('--data-parallel-external-lb'),
    })
  })

  test('with a host tier it says that it is there', async () => {
    expect(find(await started({ enable_hierarchical_cache: true }), 'tiers').found).toContain(
      '--enable-hierarchical-cache',
    )
  })

  test('SGLang that tells nobody, or tells what is not read, or tells twice, is a warning', async () => {
    const silent = { radix_cache_backend: null, kv_events: null }
    const events = `,events=tcp://127.0.0.1:${await findFreePort()}`
    const [untold, unread, read, twice] = await Promise.all([
      started(silent),
      started({ radix_cache_backend: null }),
      started({ radix_cache_backend: null }, events),
      started({}, events),
    ])
    expect(find(untold, 'reports')).toMatchObject({
      level: 'warning',
      fix: expect.stringContaining('--radix-cache-backend reprise'),
    })
    expect(find(unread, 'reports')).toMatchObject({
      level: 'warning',
      fix: expect.stringMatching(/,events=tcp:\/\/HOST:\d+,replay=tcp:\/\/HOST:\d+ /),
    })
    expect(find(read, 'reports').level).toBe('ok')
    expect(find(twice, 'reports')).toMatchObject({
      level: 'warning',
      found: expect.stringContaining('one of the two'),
    })
  })
})
