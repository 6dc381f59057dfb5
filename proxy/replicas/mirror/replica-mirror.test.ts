import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import type { SentPrompt } from '#index/cache-event.ts'
import type { Context, ReplicaId, RequestId, ScopeId } from '#index/context-block.ts'
import { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { promptOf } from '#index/mirror/sent-prompts.fixture.ts'
import { CallbackSenderModel, type Delivery } from '../../request/sender-model.fixture.ts'
import { type Acknowledgement, type Loss, ReplicaMirror } from './replica-mirror.ts'

let now = 0
let losses: Loss[] = []
let replica: ReplicaMirror

function create(): ReplicaMirror {
  const mirror = new CacheMirror({ maxRequests: 1000, maxBlocks: 100_000 })
  return new ReplicaMirror(
    'gpu-0' as ReplicaId,
    mirror,
    (loss) => losses.push(loss),
    () => now,
  )
}

beforeEach(() => {
  now = 0
  losses = []
  replica = create()
})

const id = (name: string): RequestId => name as RequestId
const events = (sequence: number, ...list: unknown[]): Promise<Acknowledgement> =>
  replica.takeEvents(() => Promise.resolve({ generation: 'g1', sequence, events: list }))
const snapshot = (sequence: number, ...requests: unknown[]): Promise<Acknowledgement> =>
  replica.takeSnapshot(() => Promise.resolve({ generation: 'g1', sequence, requests }))
const lengthOf = (name: string): number => replica.cache.mirror.heldOf(id(name))?.cachedLength ?? 0

/** Runs a request to its end, at one token per character. */
function run(name: string, prompt: SentPrompt): void {
  replica.cache.sent(id(name), prompt)
  replica.cache.used(id(name), prompt.length, undefined)
  replica.cache.ended([id(name)])
}

describe('the mode', () => {
  const mode = (): string => replica.state.mode

  test('is exact while reports come, degraded after three seconds of silence, fallback after a minute', async () => {
    expect(mode()).toBe('fallback')
    await snapshot(0)
    expect(mode()).toBe('exact')
    now = 3000
    await events(1)
    now = 6000
    expect(mode()).toBe('exact')
    now = 6001
    expect(mode()).toBe('degraded')
    now = 63_001
    expect(mode()).toBe('fallback')
    await events(2)
    expect(mode()).toBe('exact')
  })

  test('stays degraded while a gap is not mended, whatever else comes', async () => {
    await snapshot(0)
    expect(await events(3)).toEqual({ expected: 1 })
    expect(await events(4)).toEqual({ expected: 1 })
    expect(mode()).toBe('degraded')
    await snapshot(4)
    expect(mode()).toBe('exact')
  })

  test('is degraded when the engine has begun anew and has not said yet what it holds', async () => {
    await snapshot(0)
    const anew = { generation: 'g2', sequence: 1, events: [] }
    expect(await replica.takeEvents(() => Promise.resolve(anew))).toEqual({ expected: 0 })
    expect(mode()).toBe('degraded')
  })

  test('is what it was while a snapshot is being read, and after one that was broken off', async () => {
    await snapshot(0)
    let breakOff = (_error: Error): void => {}
    const taken = replica.takeSnapshot(() => new Promise((_resolve, reject) => (breakOff = reject)))
    now = 9000
    expect(mode()).toBe('exact')
    breakOff(new Error('left'))
    await expect(taken).rejects.toThrow('left')
    expect(mode()).toBe('exact')
    expect(await events(1)).toEqual({ sequence: 1 })
  })

  test('is not judged by silence where the engine’s own events are followed', () => {
    replica.setState({ mode: 'exact', generation: 'g', sequence: 7 })
    now = 1e9
    expect(replica.state).toEqual({ mode: 'exact', generation: 'g', sequence: 7 })
  })
})

test('that an engine holds nothing is told, with how it came', async () => {
  await snapshot(0)
  await snapshot(1)
  expect(losses).toEqual(['first'])
  await events(2, { type: 'cleared' })
  replica.report({ type: 'cleared' })
  replica.clear()
  expect(losses.slice(1)).toEqual(['cleared', 'cleared', 'cleared'])
  await replica.takeSnapshot(() => Promise.resolve({ generation: 'g2', sequence: 0, requests: [] }))
  expect(losses.slice(4)).toEqual(['restarted'])
})

describe('a cleared cache', () => {
  test('holds what was under way, as if it had been sent just now', async () => {
    await snapshot(0)
    run('ended', promptOf(['a']))
    replica.cache.sent(id('running'), promptOf(['b']))
    await events(1, { type: 'cleared' })
    expect([lengthOf('ended'), lengthOf('running')]).toEqual([0, 200])
    replica.cache.used(id('running'), 200, undefined)
    replica.cache.ended([id('running')])
    await events(2, { type: 'stored', request_id: 'running', cached_tokens: 100 })
    expect(lengthOf('running')).toBe(100)
    expect(replica.cache.mirror.statistics.unknownRequests).toBe(0)
    await events(3, { type: 'cleared' })
    expect(lengthOf('running')).toBe(0)
  })

  test('by the engine’s own events does too, by the control plane it does not', () => {
    replica.cache.sent(id('running'), promptOf(['b']))
    replica.report({ type: 'cleared' })
    expect(lengthOf('running')).toBe(200)
    replica.clear()
    expect(lengthOf('running')).toBe(0)
  })
})

test('an engine that is cleared will be asked for the same again; the control plane has that forgotten', async () => {
  const order = () => replica.cache.mirror.order('system' as ScopeId, ['b', 'a'] as unknown as Context, [100, 100])
  await snapshot(0)
  run('asked', promptOf(['a', 'b']))
  await events(1, { type: 'cleared' })
  expect(order()).toBeDefined()
  replica.clear()
  expect(order()).toBeUndefined()
})

describe('a request that the engine calls by a name of its own', () => {
  test('is known by it from its answer on, and what was told before counts', async () => {
    await snapshot(0)
    replica.cache.sent(id('ours'), promptOf(['a', 'b']))
    replica.cache.used(id('ours'), 300, undefined)
    await events(1, { type: 'stored', request_id: 'resp_1_0', cached_tokens: 200 })
    expect(lengthOf('ours')).toBe(300)
    replica.cache.named(id('ours'), id('resp_1_0'))
    expect(lengthOf('ours')).toBe(200)
    await events(2, { type: 'evicted', request_id: 'resp_1_0', cached_tokens: 100 })
    expect(lengthOf('ours')).toBe(100)
    await snapshot(3, { request_id: 'resp_1_0', cached_tokens: 300 })
    expect(lengthOf('ours')).toBe(300)
  })

  test('that a snapshot named before its answer came', async () => {
    replica.cache.sent(id('ours'), promptOf(['a', 'b']))
    replica.cache.used(id('ours'), 300, undefined)
    await snapshot(0, { request_id: 'resp_1_0', cached_tokens: 200 })
    expect(lengthOf('ours')).toBe(0)
    replica.cache.named(id('ours'), id('resp_1_0'))
    expect(lengthOf('ours')).toBe(200)
  })

  test('is not held by what an earlier life of the cache was told', async () => {
    await snapshot(0)
    replica.cache.sent(id('ours'), promptOf(['a']))
    await events(1, { type: 'stored', request_id: 'resp_1_0', cached_tokens: 100 }, { type: 'cleared' })
    replica.cache.named(id('ours'), id('resp_1_0'))
    expect(lengthOf('ours')).toBe(200)
  })
})

describe('an event that comes alone', () => {
  test('tells of tokens as well, by the name that the engine has for the request', async () => {
    await snapshot(0)
    const tokens = { tokens: Uint32Array.from({ length: 200 }, (_, i) => i), scope: '' }
    const ask = (name: string): number | undefined => {
      replica.cache.sent(id(name), promptOf(['a']))
      replica.cache.tokens.send(id(name))
      replica.cache.tokens.learn(id(name), tokens, 16)
      return replica.cache.tokens.predict(id(name))
    }
    ask('ours')
    replica.cache.named(id('ours'), id('resp_1_0'))
    replica.cache.tokens.end(id('ours'))
    replica.cache.ended([id('ours')])
    expect(replica.cache.knows(id('resp_1_0'))).toBe(true)
    replica.takeEvent({ type: 'evicted', request_id: 'resp_1_0', cached_tokens: 0 })
    expect(lengthOf('ours')).toBe(0)
    expect(ask('next')).toBe(0)
    expect(replica.applied).toMatchObject({ evicted: 1 })
    expect(replica.cache.knows(id('nobody'))).toBe(false)
  })
})

describe('a request that ended before the engine said anything', () => {
  const tick = (at: number): void => {
    now = at
    replica.cache.tick({ capacityTokens: undefined, evictsInWhole: false })
  }

  beforeEach(async () => {
    await snapshot(0)
    run('left', promptOf(['a']))
    replica.cache.doubted(id('left'))
  })

  test('is held as far as the engine tells, whenever it does', async () => {
    await events(1, { type: 'stored', request_id: 'left', cached_tokens: 150 })
    tick(9_000)
    await events(2)
    tick(11_000)
    expect(lengthOf('left')).toBe(150)
  })

  test('is not held when the engine tells of others only, until it tells of this', async () => {
    tick(9_000)
    expect(lengthOf('left')).toBe(200)
    await events(1)
    tick(11_000)
    expect(lengthOf('left')).toBe(0)
    await events(2, { type: 'stored', request_id: 'left', cached_tokens: 150 })
    expect(lengthOf('left')).toBe(150)
  })

  test('is believed like any other where nobody reports', async () => {
    tick(11_000)
    expect(replica.state.mode).toBe('degraded')
    expect(lengthOf('left')).toBe(200)
  })
})

describe('without reports', () => {
  test('a cache of known capacity is taken to lose what was used longest ago', () => {
    replica.cache.tick({ capacityTokens: 600, evictsInWhole: false })
    for (const name of ['a', 'b', 'c']) run(name, promptOf([name], 100))
    expect(['a', 'b', 'c'].map(lengthOf)).toEqual([200, 300, 300])
    replica.cache.sent(id('d'), promptOf(['d'], 100))
    expect(['a', 'b', 'c', 'd'].map(lengthOf)).toEqual([0, 200, 300, 300])
  })

  test('what was exact is not cut because it stops; what comes on top is', async () => {
    await snapshot(0)
    for (const name of ['a', 'b']) run(name, promptOf([name], 100))
    replica.cache.tick({ capacityTokens: 250, evictsInWhole: false })
    now = 5000
    replica.cache.tick({ capacityTokens: 250, evictsInWhole: false })
    expect(replica.state.mode).toBe('degraded')
    expect(['a', 'b'].map(lengthOf)).toEqual([300, 300])
    run('c', promptOf(['c'], 100))
    expect(['a', 'b', 'c'].map(lengthOf)).toEqual([0, 300, 300])
    // the engine had lost less
    await snapshot(1, ...['a', 'b', 'c'].map((request_id) => ({ request_id, cached_tokens: 300 })))
    expect(['a', 'b', 'c'].map(lengthOf)).toEqual([300, 300, 300])
  })

  test('where not even the capacity is known belief ends after an hour without use', () => {
    run('a', promptOf(['a']))
    replica.cache.tick({ capacityTokens: undefined, evictsInWhole: false })
    now = 40 * 60_000
    run('b', promptOf(['a', 'b']))
    now = 60 * 60_000 + 1
    replica.cache.tick({ capacityTokens: undefined, evictsInWhole: false })
    expect([lengthOf('a'), lengthOf('b')]).toEqual([0, 300])
  })

  test('an engine that finds nothing because it does not look denies nothing', () => {
    run('old', promptOf(['a', 'b', 'c']))
    const asked = promptOf(['a', 'b', 'd'])
    replica.cache.sent(id('new'), asked, false)
    replica.cache.used(id('new'), asked.length, 0)
    expect(['old', 'new'].map(lengthOf)).toEqual([400, 400])
  })

  test('an engine that finds less than was believed cuts the belief', () => {
    run('old', promptOf(['a', 'b', 'c']))
    run('other', promptOf(['x']))
    const asked = promptOf(['a', 'b', 'd'])
    replica.cache.sent(id('new'), asked)
    replica.cache.used(id('new'), asked.length, 100)
    expect(['old', 'other', 'new'].map(lengthOf)).toEqual([100, 200, 400])
  })

  test('a count that is off by what an estimate is off by cuts nothing, and nor does one while reports come', async () => {
    run('old', promptOf(['a', 'b', 'c']))
    const asked = promptOf(['a', 'b', 'd'])
    replica.cache.sent(id('new'), asked)
    replica.cache.used(id('new'), asked.length, 220)
    expect(lengthOf('old')).toBe(400)
    await snapshot(0, { request_id: 'old', cached_tokens: 400 })
    replica.cache.sent(id('newer'), asked)
    replica.cache.used(id('newer'), asked.length, 0)
    expect(lengthOf('old')).toBe(400)
  })
})

describe('whatever is lost, repeated, late or begun anew on the way', () => {
  const name = fc.nat(5).map((n) => `r-${n}`)
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('change'), name, tokens: fc.nat(300) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('clear', 'engine', 'proxy', 'sent') }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('post') }) },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constantFrom('lost request', 'lost answer', 'twice', 'late', 'deliver') }),
    },
  )

  test('a sender that repairs makes the mirror exact and equal to the engine', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        replica = create()
        const sender = new CallbackSenderModel({
          events: (body) => replica.takeEvents(() => Promise.resolve(body)),
          snapshot: (body) => replica.takeSnapshot(() => Promise.resolve(body)),
        })
        const known = new Set<string>()
        const sendAll = (): void => {
          for (let n = 0; n <= 5; n++) {
            run(`r-${n}`, promptOf([`${n}`, 'x']))
            known.add(`r-${n}`)
            // once it is sent again, its old entry is gone until the engine reports it
            sender.change(`r-${n}`, 0)
          }
        }
        sendAll()
        const begin: Record<string, () => void> = {
          clear: () => sender.clear(),
          engine: () => sender.restart(),
          sent: sendAll,
          proxy: () => {
            replica = create()
            sendAll()
          },
        }
        for (const one of steps) {
          if ('tokens' in one) sender.change(one.name, one.tokens)
          else if (begin[one.kind]) begin[one.kind]!()
          else await sender.post(one.kind as Delivery)
        }
        await sender.settle()
        expect(replica.state).toMatchObject({ mode: 'exact', generation: sender.generation })
        const believed = [...known].map((request) => [request, lengthOf(request)])
        expect(believed).toEqual([...known].map((request) => [request, sender.held.get(request) ?? 0]))
      }),
      { numRuns: 300 },
    )
  })
})

describe('reuse at any position', () => {
  const snapshotWith = (sequence: number, reuse?: unknown): Promise<Acknowledgement> =>
    replica.takeSnapshot(() => Promise.resolve({ generation: 'g1', sequence, requests: [], reuse }))

  test('is what the last snapshot says', async () => {
    expect(replica.reuse).toBeUndefined()
    await snapshotWith(0, { ratio: 0.15, max_ratio: 0.5 })
    await events(1)
    expect(replica.reuse).toEqual({ ratio: 0.15, min_ratio: 0, max_ratio: 0.5 })
    await snapshotWith(1, { ratio: 0.15, min_ratio: 0.15, max_ratio: 0.15 })
    expect(replica.reuse).toEqual({ ratio: 0.15, min_ratio: 0.15, max_ratio: 0.15 })
    await snapshotWith(2, null)
    expect(replica.reuse).toBeUndefined()
    await snapshotWith(3, { ratio: 0, max_ratio: 1 })
    await snapshot(4)
    expect(replica.reuse).toBeUndefined()
  })

  test.each([
    { ratio: 0.1 },
    { ratio: 2, max_ratio: 1 },
    { ratio: '0.1', max_ratio: 1 },
    { ratio: 0.6, max_ratio: 0.5 },
    { ratio: -0.1, max_ratio: 1 },
    { ratio: 0.1, max_ratio: 1.1 },
    { ratio: 0.1, max_ratio: '1' },
    { ratio: 0.1, min_ratio: 0.2, max_ratio: 1 },
    { ratio: 0.1, min_ratio: -0.1, max_ratio: 1 },
    { ratio: 0.1, min_ratio: null, max_ratio: 1 },
    [],
    0.1,
  ])('said as %j is malformed', async (reuse) => {
    await snapshotWith(0, { ratio: 0.15, max_ratio: 1 })
    await expect(snapshotWith(1, reuse)).rejects.toThrow(/reuse/)
    expect(replica.reuse).toEqual({ ratio: 0.15, min_ratio: 0, max_ratio: 1 })
  })

  test('tells what was computed again of a request that runs', async () => {
    await snapshotWith(0, { ratio: 0.15, max_ratio: 1 })
    replica.cache.sent(id('a'), promptOf(['a']))
    expect(replica.cache.recomputedOf(id('a'))).toBeUndefined()
    const stored = { type: 'stored', cached_tokens: 10 }
    await events(1, { ...stored, request_id: 'a', reused_tokens: 85, recomputed_tokens: 15 })
    await events(2, { ...stored, request_id: 'b', reused_tokens: 5, recomputed_tokens: 1 })
    expect([replica.cache.recomputedOf(id('a')), replica.cache.recomputedOf(id('b'))]).toEqual([15, undefined])
    expect(lengthOf('a')).toBeLessThan(200)
    replica.cache.ended([id('a')])
    expect(replica.cache.recomputedOf(id('a'))).toBeUndefined()
    await expect(events(3, { ...stored, request_id: 'a', recomputed_tokens: -1 })).rejects.toThrow(/recomputed_tokens/)
  })

  test('leaves nothing exact behind it: so much is believed until the engine says more', async () => {
    await snapshotWith(0, { ratio: 0.15, max_ratio: 1 })
    const prompt = promptOf(['a', 'b', 'c'])
    run('counted', prompt)
    replica.cache.sent(id('r'), prompt, true, prompt.ends[1])
    expect(lengthOf('r')).toBe(prompt.ends[1])
    await events(1, { type: 'stored', request_id: 'r', cached_tokens: prompt.length })
    expect(lengthOf('r')).toBe(prompt.length)
  })
})

describe('checkpoints', () => {
  const say = (checkpoints: unknown): Promise<Acknowledgement> =>
    replica.takeSnapshot(() => Promise.resolve({ generation: 'g1', sequence: 0, requests: [], checkpoints }))

  test('are all that is found where an engine keeps some, also if none can be set', async () => {
    await say({ unit: 1, kinds: ['state'] })
    expect(replica.cache.tokens.keepsCheckpoints).toBe(true)
    expect(replica.checkpoints).toBeUndefined()
    const settable = { unit: 16, kinds: ['window'], room_tokens: 48, key: 'k-1' }
    await say(settable)
    expect(replica.checkpoints).toEqual(settable)
    await say(null)
    expect(replica.cache.tokens.keepsCheckpoints).toBe(false)
  })

  test('that can be set take room', async () => {
    await expect(say({ unit: 16, kinds: ['window'], key: 'k-1' })).rejects.toThrow(/room_tokens/)
  })
})
