import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pack } from 'msgpackr'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { EventSubscriber, type SubscriberOptions } from './event-subscriber.ts'
import type { KvEventBatch } from './kv-event.ts'
import { EventPublisherDouble } from './publisher-double.fixture.ts'

const recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'kv-events.fixture.json'), 'utf8')) as Record<
  'vllm' | 'sglang',
  { version: string; topic: string; live: string[][]; replayed: string[][] }
>
const endings: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const end of endings.splice(0)) await end()
})

async function startPublisher(topic?: string): Promise<EventPublisherDouble> {
  const publisher = await new EventPublisherDouble(topic).start()
  endings.unshift(() => publisher.stop())
  return publisher
}

function listen(publisher: EventPublisherDouble, options: Partial<SubscriberOptions> = {}) {
  const heard = { times: [] as number[], batches: [] as KvEventBatch[], lost: [] as string[], faults: 0 }
  const subscriber = new EventSubscriber({
    eventsUrl: publisher.eventsUrl,
    replayUrl: publisher.replayUrl,
    checkMilliseconds: 200,
    replayTimeoutMilliseconds: 300,
    onBatch: (batch) => {
      heard.batches.push(batch)
      heard.times.push(batch.time)
    },
    onLost: (reason) => {
      heard.lost.push(reason)
      heard.times = []
    },
    onFault: () => {
      heard.faults += 1
    },
    ...options,
  })
  endings.unshift(() => subscriber.close())
  return { subscriber, heard }
}

let clock = 0
const batch = (events: unknown[] = []): Buffer => {
  clock += 1
  return pack([clock, events, 0])
}
const until = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 10_000, interval: 10 })

describe.each(['vllm', 'sglang'] as const)('bytes recorded from the publisher of %s', (engine) => {
  const { topic, live, replayed, version } = recorded[engine]
  const payloads = live.map((frames) => Buffer.from(frames[2]!, 'hex'))

  test(`the double speaks as version ${version} does`, () => {
    expect(live.map(([name, sequence]) => [Buffer.from(name!, 'hex').toString(), Number(`0x${sequence}`)])).toEqual(
      live.map((_, i) => [topic, i]),
    )
    const last = replayed.at(-1)!
    expect(last).toEqual(['', '', 'ffffffffffffffff', ''])
    expect(replayed.slice(0, -1)).toEqual(live.slice(1).map((frames) => ['', ...frames]))
  })

  test('they are heard as they are published, and by one that comes late', async () => {
    const publisher = await startPublisher(topic)
    await publisher.publish(payloads[0]!)
    const { heard, subscriber } = listen(publisher)
    await until(() => expect(subscriber.order.state).toBe('whole'))
    await until(() => expect(heard.batches).toHaveLength(1))
    for (const payload of payloads.slice(1)) await publisher.publish(payload)
    await until(() => expect(heard.batches).toHaveLength(payloads.length))
    expect(heard.batches.every(({ unknown, events }) => unknown === 0 && events.length > 0)).toBe(true)
    expect(heard.lost).toEqual([])
  })
})

test('batches that are lost on their way are asked for, and taken in their place', async () => {
  const publisher = await startPublisher()
  const { heard, subscriber } = listen(publisher, { checkMilliseconds: 60_000 })
  let published = 0
  const publish = async (options?: { isLost: boolean }): Promise<void> => {
    await publisher.publish(batch(), options)
    published += 1
  }
  await publish()
  await until(() => expect(heard.times).toHaveLength(1))
  // a replay requested at the start may contain what is lost meanwhile, and then there is no gap
  while (subscriber.order.gaps === 0) {
    await publish({ isLost: true })
    await publish({ isLost: true })
    await publish()
    await until(() => expect(heard.times).toHaveLength(published))
  }
  expect(heard.times).toEqual(heard.times.toSorted((a, b) => a - b))
  await until(() => expect(subscriber.order.state).toBe('whole'))
  expect({ lost: heard.lost, gaps: subscriber.order.gaps }).toEqual({ lost: [], gaps: 1 })
})

test('a replay of which only the beginning comes is asked for again from there, until all is here', async () => {
  const publisher = await startPublisher()
  publisher.longestReplay = 5
  for (let i = 0; i < 17; i++) await publisher.publish(batch())
  const { heard, subscriber } = listen(publisher)
  await until(() => expect(subscriber.order.state).toBe('whole'))
  expect({ lost: heard.lost, count: heard.times.length }).toEqual({ lost: [], count: 17 })
})

test('what is missed while replays are not answered is had when they are, though batches go on to come', async () => {
  const publisher = await startPublisher()
  const { heard, subscriber } = listen(publisher)
  await publisher.publish(batch())
  await until(() => expect(heard.times).toHaveLength(1))
  publisher.isAnswering = false
  await publisher.publish(batch(), { isLost: true })
  await publisher.publish(batch())
  await until(() => expect(heard.lost).toEqual(['missed']))
  publisher.isAnswering = true
  // traffic leaves no silence for a check
  const traffic = setInterval(() => void publisher.publish(batch()), 30)
  endings.unshift(async () => clearInterval(traffic))
  await until(() => expect(subscriber.order.state).toBe('whole'))
  expect(heard.lost).toEqual(['missed', 'found'])
  await until(() => expect(heard.times.length).toBeGreaterThan(3))
  expect(heard.times.slice(0, 4)).toEqual([0, 1, 2, 3].map((i) => heard.times[0]! + i))
})

test('a batch that is lost last is missed in the silence behind it', async () => {
  const publisher = await startPublisher()
  const { heard } = listen(publisher)
  await publisher.publish(batch())
  await until(() => expect(heard.times).toHaveLength(1))
  await publisher.publish(batch(), { isLost: true })
  await until(() => expect(heard.times).toHaveLength(2))
})

test('an engine that was restarted is known for another, even when it has published as much since', async () => {
  const publisher = await startPublisher()
  const { heard, subscriber } = listen(publisher)
  for (let i = 0; i < 3; i++) await publisher.publish(batch())
  await until(() => expect(heard.times).toHaveLength(3))
  await publisher.restart()
  for (let i = 0; i < 5; i++) await publisher.publish(batch())
  await until(() => expect(heard.times).toHaveLength(5))
  expect(heard.lost).toEqual(['restarted'])
  await until(() => expect(subscriber.order.state).toBe('whole'))
  await publisher.restart()
  await until(() => expect(heard.lost).toEqual(['restarted', 'restarted']))
  expect(heard.times).toEqual([])
})

test('while the engine does not answer it is in doubt what it holds', async () => {
  const publisher = await startPublisher()
  const { heard, subscriber } = listen(publisher)
  await publisher.publish(batch())
  await until(() => expect(subscriber.order.state).toBe('whole'))
  publisher.isAnswering = false
  await until(() => expect(subscriber.order.state).toBe('incomplete'))
  await publisher.publish(batch())
  await until(() => expect(heard.times).toHaveLength(2))
  publisher.isAnswering = true
  await until(() => expect(subscriber.order.state).toBe('whole'))
  expect(heard.lost).toEqual([])
})

test('without a place for replays a gap loses what was known', async () => {
  const publisher = await startPublisher()
  const { heard, subscriber } = listen(publisher, { replayUrl: undefined })
  expect(subscriber.order.state).toBe('silent')
  // a newly connected subscriber misses everything before some moment
  await until(async () => {
    await publisher.publish(batch())
    expect(heard.times.length).toBeGreaterThan(0)
  })
  await publisher.publish(batch(), { isLost: true })
  await publisher.publish(batch())
  await until(() => expect(heard.lost).toEqual(['missed']))
  expect(subscriber.order.state).toBe('incomplete')
  await publisher.publish(batch([{ type: 'AllBlocksCleared' }]))
  await until(() => expect(subscriber.order.state).toBe('whole'))
})

test('messages that cannot be read are counted, and end nothing', async () => {
  const publisher = await startPublisher()
  const { heard, subscriber } = listen(publisher)
  await publisher.publish(batch())
  await until(() => expect(heard.times).toHaveLength(1))
  await publisher.publish(Buffer.from('toast'))
  await publisher.publish(batch())
  await until(() => expect(heard.times.at(-1)).toBe(clock))
  expect(heard.faults).toBeGreaterThan(0)
  expect(subscriber.order.state).toBe('incomplete')
})

test('a listener that throws is counted as a fault, and goes on to be told', async () => {
  const publisher = await startPublisher()
  let told = 0
  const { heard } = listen(publisher, {
    onBatch: () => {
      told += 1
      throw new Error('a fault of ours')
    },
  })
  await publisher.publish(batch())
  await publisher.publish(batch())
  await until(() => expect({ told, faults: heard.faults }).toEqual({ told: 2, faults: 2 }))
})
