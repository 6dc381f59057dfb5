import { setTimeout as pause } from 'node:timers/promises'
import { pino } from 'pino'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { RedisClientDouble, refusal } from './redis-client-double.fixture.ts'
import { RedisConnection, type RedisConnectionOptions } from './redis-connection.ts'

let connection: RedisConnection

afterEach(() => connection.close())

/** Creates a connection whose clock runs a hundred times as fast as real time. */
async function connect({
  meddle = () => undefined,
  ...options
}: Partial<RedisConnectionOptions & Pick<RedisClientDouble, 'meddle'>> = {}) {
  const client = new RedisClientDouble()
  client.meddle = meddle
  const lines: { msg: string; fault?: string }[] = []
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  connection = new RedisConnection(client.client, {
    marks: ['mark 0', 'mark 1', 'mark 2'],
    markSeconds: 60,
    log,
    now: () => performance.now() * 100,
    onLateRead: () => {},
    probeMilliseconds: 5,
    answerMilliseconds: 30,
    ...options,
  })
  const onLost = vi.fn()
  connection.listen({ onUp: () => {}, onLost })
  // some 40 ms of real time
  await connection.connect(4_000)
  onLost.mockClear()
  const texts = (): string[] => lines.map(({ msg }) => msg)
  return { client, lines, texts, onLost }
}

describe('that Redis has lost what it held is told', () => {
  test('once, when nothing is left of it', async () => {
    const { client, onLost, texts } = await connect()
    await pause(50)
    expect(onLost).not.toHaveBeenCalled()
    client.held.clear()
    await vi.waitFor(() => expect(onLost).toHaveBeenCalled())
    await pause(50)
    expect(onLost).toHaveBeenCalledTimes(1)
    expect(texts()).toContain('Redis has lost what it held: writing it again')
  })

  test('when it was one node of a cluster that came back empty, while another did not answer', async () => {
    const { client, onLost } = await connect()
    for (const mark of ['mark 0', 'mark 2']) client.held.delete(mark)
    client.meddle = ([, key]) => (key === 'mark 1' ? refusal('CLUSTERDOWN The cluster is down') : undefined)
    await vi.waitFor(() => expect(connection.isUp).toBe(false))
    await pause(30)
    client.meddle = () => undefined
    await vi.waitFor(() => expect(onLost).toHaveBeenCalled())
    expect(connection.isUp).toBe(true)
  })

  test('when it answers later than it is waited for, as a client of a cluster does that tries again by itself', async () => {
    const { client, onLost } = await connect()
    let open!: () => void
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    client.meddle = () => gate
    await vi.waitFor(() => expect(connection.isUp).toBe(false))
    client.held.clear()
    client.meddle = () => undefined
    open()
    await vi.waitFor(() => expect(onLost).toHaveBeenCalled())
    expect(connection.isUp).toBe(true)
  })
})

describe('a Redis that is full', () => {
  const oom = "OOM command not allowed when used memory > 'maxmemory'."
  const write = { key: 'a', name: 'set', args: ['a', '1', 'EX', 60] }

  test('is counted for every batch that it refuses, and has a line in the log when that begins and one when it ends', async () => {
    const onRefused = vi.fn()
    const { client, lines, texts } = await connect({ onRefused })
    await connection.write([write])
    expect(onRefused).not.toHaveBeenCalled()
    client.meddle = () => refusal(oom)
    for (let i = 0; i < 3; i++) await connection.write([write, write])
    await pause(60)
    expect(onRefused).toHaveBeenCalledTimes(3)
    expect(connection.isUp).toBe(true)
    const told = lines.filter(({ msg }) => msg.startsWith('Redis refuses'))
    expect(told).toMatchObject([{ fault: oom }])
    client.meddle = () => undefined
    await vi.waitFor(() => expect(texts().at(-1)).toBe('Redis takes what is written again'))
    await pause(60)
    expect(texts().filter((text) => text.startsWith('Redis refuses') || text.startsWith('Redis takes'))).toHaveLength(2)
  })

  test('is told of though nothing but its marks is written', async () => {
    const { client, texts } = await connect()
    client.meddle = () => refusal(oom)
    await vi.waitFor(() => expect(texts().at(-1)).toMatch(/^Redis refuses/))
  })

  test('or that refuses a single command has but one line as long as it goes on', async () => {
    const { client, texts } = await connect({ now: () => performance.now() })
    client.meddle = ([, key]) => (key === 'a' ? refusal("NOPERM this user has no permissions to run 'set'") : undefined)
    for (let i = 0; i < 10; i++) {
      await connection.write([write])
      await pause(10)
    }
    expect(texts().filter((text) => text.startsWith('Redis refuses') || text.startsWith('Redis takes'))).toHaveLength(1)
  })

  test('is not taken for one that does not answer', async () => {
    const onRefused = vi.fn()
    const { client, texts } = await connect({ onRefused })
    client.meddle = () => new Error('Connection is closed.')
    await connection.write([write])
    await vi.waitFor(() => expect(connection.isUp).toBe(false))
    expect(onRefused).not.toHaveBeenCalled()
    expect(texts().some((text) => text.startsWith('Redis refuses'))).toBe(false)
  })
})

describe('a database that is not there', () => {
  const select = ([name]: readonly unknown[]) =>
    name === 'select' ? refusal('ERR DB index is out of range') : undefined

  test('is a Redis that does not answer, with a line that says so, and nothing is written to another', async () => {
    const { client, lines } = await connect({ database: 99, meddle: select })
    expect(connection.isUp).toBe(false)
    expect(lines).toMatchObject([{ fault: 'database 99: ERR DB index is out of range' }])
    expect(client.commands.every(([name]) => name === 'select')).toBe(true)
  })

  test('is found missing when the connection is made anew, and there when it is', async () => {
    const { client } = await connect({ database: 3 })
    expect(connection.isUp).toBe(true)
    client.meddle = select
    client.lose()
    expect(connection.isUp).toBe(false)
    client.open()
    await pause(30)
    expect(connection.isUp).toBe(false)
    client.meddle = () => undefined
    await vi.waitFor(() => expect(connection.isUp).toBe(true))
    expect(client.commands.filter(([name]) => name === 'select').at(-1)).toEqual(['select', 3])
  })
})

test('the log says why Redis is away now, not why it was away before, and says once more when it begins to refuse us', async () => {
  const { client, lines } = await connect()
  const faults = (): (string | undefined)[] => lines.flatMap(({ fault }) => fault ?? [])
  client.lose()
  for (let i = 0; i < 3; i++) client.emit('error', new Error('connect ECONNREFUSED 127.0.0.1:6379'))
  expect(faults()).toEqual(['the connection was closed'])
  client.open()
  await vi.waitFor(() => expect(connection.isUp).toBe(true))
  client.lose()
  await pause(20)
  const refused = new Error('Ready check failed: NOAUTH Authentication required.')
  for (let i = 0; i < 3; i++) client.emit('error', refused)
  expect(faults().slice(1)).toEqual(['the connection was closed', refused.message])
  client.emit('error', Object.assign(new Error('None of the nodes'), { lastNodeError: new Error('WRONGPASS no') }))
  expect(faults().at(-1)).toBe('None of the nodes (WRONGPASS no)')
})
