import { createSocket, type Socket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { EngineConfig } from '../../config/config.ts'
import type { FoundEngine } from '../../config/read-files.ts'
import { EngineDiscovery } from './engine-discovery.ts'
import { type EnginePlace, resolveEngine } from './resolve-engine.ts'
import { toEngines } from './to-engines.ts'

const named = (url: string, more: Partial<EngineConfig> = {}): FoundEngine => ({
  engine: { url, kind: 'vllm', id: 'vllm', discover: 'addresses', ...more },
  tls: undefined,
})
const places = (...hosts: string[]): EnginePlace[] => hosts.map((host) => ({ host, port: '8000' }))
const namesOf = (found: readonly FoundEngine[]): string[] => found.map(({ engine }) => engine.id)

describe('what is found at a name', () => {
  test('is an engine for each address, whatever their order, with all that the configuration says', () => {
    const wanted = named('http://vllm:8000/v1', {
      api_key: 'k',
      models: ['m'],
      events: 'tcp://vllm:5557',
      replay: 'tcp://other:5558',
    })
    const found = toEngines(wanted, places('10.0.0.2', '10.0.0.1', '[fd00::1]', '10.0.0.2'))
    expect(found.map(({ engine }) => engine)).toMatchObject([
      {
        id: 'vllm-10.0.0.1',
        url: 'http://10.0.0.1:8000/v1',
        api_key: 'k',
        models: ['m'],
        events: 'tcp://10.0.0.1:5557',
        replay: 'tcp://other:5558',
      },
      { id: 'vllm-10.0.0.2', url: 'http://10.0.0.2:8000/v1' },
      { id: 'vllm-fd00--1', url: 'http://[fd00::1]:8000/v1' },
    ])
  })

  test('shows a certificate for the name, not for the address', () => {
    const [one] = toEngines(named('https://vllm.example:8443'), places('10.0.0.1'))
    expect(one!.tls).toEqual({ serverName: 'vllm.example' })
  })

  test('is called by as many labels of its own name as it takes, whatever the order of the records', () => {
    const wanted = named('http://_http._tcp.vllm.ns.svc', { discover: 'srv' })
    const records = [
      { host: 'vllm-0.zone-a', port: '8000' },
      { host: 'vllm-0.zone-b', port: '8000' },
      { host: 'vllm-0.zone-b.far', port: '8000' },
      { host: 'vllm-0.zone-c', port: '8001' },
      { host: 'vllm-0.zone-c', port: '8000' },
      { host: 'vllm-1.zone-a', port: '8000' },
      { host: 'vllm-1-8000', port: '80' },
      // 'solo-1' could be two of these
      { host: 'solo', port: '1' },
      { host: 'solo', port: '2' },
      { host: 'solo-1', port: '1' },
    ]
    const idsOf = (of: readonly EnginePlace[]): Record<string, string> =>
      Object.fromEntries(toEngines(wanted, of).map(({ engine }) => [engine.url, engine.id]))
    expect(idsOf(records)).toEqual({
      'http://solo-1:1': 'vllm-solo-1-1',
      'http://solo:1': 'vllm-solo_1',
      'http://solo:2': 'vllm-solo-2',
      'http://vllm-0.zone-a:8000': 'vllm-vllm-0.zone-a',
      'http://vllm-0.zone-b.far:8000': 'vllm-vllm-0.zone-b.far',
      'http://vllm-0.zone-b:8000': 'vllm-vllm-0.zone-b_8000',
      'http://vllm-0.zone-c:8000': 'vllm-vllm-0.zone-c-8000',
      'http://vllm-0.zone-c:8001': 'vllm-vllm-0-8001',
      'http://vllm-1-8000': 'vllm-vllm-1-8000-80',
      'http://vllm-1.zone-a:8000': 'vllm-vllm-1',
    })
    for (let i = 0; i < records.length; i++) {
      records.push(records.shift()!)
      expect(idsOf(records.toReversed())).toEqual(idsOf(records))
    }
  })

  test('is called by its port where one host has several', () => {
    const wanted = named('http://_http._tcp.vllm.ns.svc', { discover: 'srv' })
    const found = toEngines(wanted, [
      { host: 'vllm-1.vllm.ns.svc', port: '8000' },
      { host: 'vllm-0.vllm.ns.svc', port: '8001' },
      { host: 'vllm-0.vllm.ns.svc', port: '8000' },
    ])
    expect(namesOf(found)).toEqual(['vllm-vllm-0-8000', 'vllm-vllm-0-8001', 'vllm-vllm-1'])
    expect(found[1]!.engine.url).toBe('http://vllm-0.vllm.ns.svc:8001')
  })
})

describe('a name that is resolved again', () => {
  const told: string[][] = []
  const lines: string[] = []
  let answer: () => Promise<readonly EnginePlace[]>
  let discovery: EngineDiscovery

  beforeEach(() => {
    vi.useFakeTimers()
    told.length = 0
    lines.length = 0
    discovery = new EngineDiscovery({
      resolve: () => answer(),
      onFound: async (found) => void told.push(namesOf(found)),
      log: {
        info: (_: unknown, text: string) => lines.push(text),
        warn: (_: unknown, text: string) => lines.push(text),
      } as never,
    })
  })
  afterEach(() => {
    discovery.close()
    vi.useRealTimers()
  })

  test('leads to the engines that are there; named ones are found at once', async () => {
    let resolve: (found: readonly EnginePlace[]) => void = () => {}
    answer = () => new Promise((done) => (resolve = done))
    const still = { ...named('http://a'), engine: { url: 'http://a', kind: 'vllm' as const, id: 'still' } }
    const set = discovery.set([named('http://vllm:8000'), still])
    expect(told).toEqual([['still']])
    await vi.advanceTimersByTimeAsync(0)
    expect(discovery.unresolved).toEqual([{ engine: 'vllm', fault: 'no answer yet' }])
    resolve(places('10.0.0.1'))
    await set
    answer = () => Promise.resolve(places('10.0.0.2', '10.0.0.1'))
    await vi.advanceTimersByTimeAsync(5_000)
    answer = () => Promise.resolve(places('10.0.0.2'))
    await vi.advanceTimersByTimeAsync(5_000)
    expect(told.slice(1)).toEqual([
      ['vllm-10.0.0.1', 'still'],
      ['vllm-10.0.0.1', 'vllm-10.0.0.2', 'still'],
      ['vllm-10.0.0.2', 'still'],
    ])
  })

  test('keeps what an engine is called while it is there, whoever comes beside it', async () => {
    const at = (...zones: string[]): EnginePlace[] => zones.map((zone) => ({ host: `vllm-0.${zone}`, port: '8000' }))
    answer = () => Promise.resolve(at('b'))
    await discovery.set([named('http://_http._tcp.vllm.ns.svc', { discover: 'srv' })])
    for (const zones of [['a', 'b'], ['a']]) {
      answer = () => Promise.resolve(at(...zones))
      await vi.advanceTimersByTimeAsync(5_000)
    }
    expect(told.slice(-3)).toEqual([['vllm-vllm-0'], ['vllm-vllm-0.a', 'vllm-vllm-0'], ['vllm-vllm-0.a']])
  })

  test('and cannot be, or leads nowhere, keeps its engines; the log says so once', async () => {
    answer = () => Promise.resolve(places('10.0.0.1'))
    await discovery.set([named('http://vllm:8000')])
    answer = () => Promise.reject(new Error('queryA ETIMEOUT vllm'))
    await vi.advanceTimersByTimeAsync(15_000)
    expect(discovery.unresolved).toEqual([{ engine: 'vllm', fault: 'queryA ETIMEOUT vllm' }])
    answer = () => Promise.resolve([])
    await vi.advanceTimersByTimeAsync(10_000)
    answer = () => Promise.resolve(places('10.0.0.1'))
    await vi.advanceTimersByTimeAsync(5_000)
    expect(discovery.unresolved).toEqual([])
    expect(new Set(told.slice(1).map(String))).toEqual(new Set(['vllm-10.0.0.1']))
    expect(lines.map((line) => line.slice(0, 30))).toEqual([
      'engines found by name',
      'the name of engines cannot be ',
      'the name of engines cannot be ',
      'engines found by name',
    ])
  })

  test('keeps its engines while the rest of its settings changes, and loses them once another name leads somewhere', async () => {
    answer = () => Promise.resolve(places('10.0.0.1'))
    await discovery.set([named('http://vllm:8000')])
    answer = () => Promise.reject(new Error('down'))
    await discovery.set([named('http://vllm:8000', { api_key: 'other' })])
    expect(told.at(-1)).toEqual(['vllm-10.0.0.1'])
    await discovery.set([named('http://elsewhere:8000')])
    expect(told.at(-1)).toEqual(['vllm-10.0.0.1'])
    answer = () => Promise.resolve(places('10.0.0.9'))
    await vi.advanceTimersByTimeAsync(5_000)
    expect(told.at(-1)).toEqual(['vllm-10.0.0.9'])
    discovery.close()
    await vi.advanceTimersByTimeAsync(20_000)
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('resolving', () => {
  const srvOf = (...targets: string[]): Promise<EnginePlace[]> => {
    const records = targets.map((name, i) => ({
      name,
      priority: i + 1,
      port: name === '' || name === '.' ? 0 : 8000,
      weight: 0,
    }))
    const engine = { url: 'http://_http._tcp.vllm.test', kind: 'vllm' as const, id: 'a', discover: 'srv' as const }
    return resolveEngine(engine, { resolveSrv: async () => records })
  }

  test('SRV records without a target say that there is no engine (RFC 2782)', async () => {
    expect(await srvOf('.')).toEqual([])
    expect(await srvOf('')).toEqual([])
    expect(await srvOf('.', 'vllm-0.test')).toEqual([{ host: 'vllm-0.test', port: '8000' }])
  })

  test.each(['\\@vllm-0.test', 'vllm\\0320', '-'])(
    'no engine is behind a target that names no host: %s',
    async (name) => {
      expect(await srvOf(name)).toEqual([])
    },
  )

  let server: Socket | undefined
  afterEach(() => server?.close())

  test('addresses come from the system', async () => {
    const found = await resolveEngine({ url: 'http://localhost:8000', kind: 'vllm', id: 'a', discover: 'addresses' })
    expect(found).toContainEqual({ host: '127.0.0.1', port: '8000' })
  })

  test('SRV records name hosts and ports, and only those of the first priority are used', async () => {
    server = createSocket('udp4')
    const socket = server
    socket.on('message', (query, { port, address }) => socket.send(toSrvAnswer(query), port, address))
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    const resolver = new Resolver()
    resolver.setServers([`127.0.0.1:${socket.address().port}`])
    const found = await resolveEngine(
      { url: 'http://_http._tcp.vllm.test', kind: 'vllm', id: 'a', discover: 'srv' },
      resolver,
    )
    expect(found).toEqual([
      { host: 'vllm-0.test', port: '8000' },
      { host: 'vllm-1.test', port: '8001' },
    ])
  })
})

/** Answers a question for SRV records with three of them (RFC 1035, RFC 2782). */
function toSrvAnswer(query: Buffer): Buffer {
  const question = query.subarray(12, query.indexOf(0, 12) + 5)
  const head = Buffer.from([query[0]!, query[1]!, 0x81, 0x80, 0, 1, 0, 3, 0, 0, 0, 0])
  const records = [
    { priority: 1, port: 8000, host: 'vllm-0' },
    { priority: 1, port: 8001, host: 'vllm-1' },
    { priority: 9, port: 8002, host: 'spare' },
  ].map(({ priority, port, host }) => {
    const name = Buffer.concat([
      Buffer.from([host.length]),
      Buffer.from(host),
      Buffer.from([4]),
      Buffer.from('test'),
      Buffer.from([0]),
    ])
    const data = Buffer.alloc(6)
    data.writeUInt16BE(priority, 0)
    data.writeUInt16BE(port, 4)
    // the name of the question, SRV, IN, a minute
    const fixed = Buffer.from([0xc0, 12, 0, 33, 0, 1, 0, 0, 0, 60, 0, data.length + name.length])
    return Buffer.concat([fixed, data, name])
  })
  return Buffer.concat([head, question, ...records])
}
