import { expect, test } from 'vitest'
import { Subscriber } from 'zeromq'
import type { EngineSettings } from '../config.ts'
import { findEngineFaults } from './find-contradictions.ts'

const faultsOf = (settings: Partial<EngineSettings>): string[] =>
  findEngineFaults({ url: 'http://gpu-0:8000', kind: 'vllm', ...settings }).map(([key, reason]) => `${key}: ${reason}`)

const asListened = (name: string, host: string): string =>
  `${name}: '${host}' is where the engine listens: write the host where it runs, as in tcp://gpu-0:5557`

test.each(['gpu-0', '127.0.0.1', '[::1]', 'a_b.local'])('what can be connected to is no fault: %s', (host) => {
  expect(faultsOf({ events: `tcp://${host}:1`, replay: `tcp://${host}:65535` })).toEqual([])
  const subscriber = new Subscriber()
  expect(() => subscriber.connect(`tcp://${host}:5557`)).not.toThrow()
  subscriber.close()
})

test.each(['*', '0.0.0.0', '[::]'])('what an engine listens at is named, with where it runs: %s', (host) => {
  const place = `tcp://${host}:5557`
  expect(faultsOf({ events: place })).toEqual([asListened('events', host)])
  expect(faultsOf({ events: 'tcp://gpu-0:5557', replay: place })).toEqual([asListened('replay', host)])
})

test.each(['0', '65536', '99999'])('a port that is none is named: %s', (port) => {
  expect(faultsOf({ events: `tcp://gpu-0:${port}` })).toEqual([
    `events: ${port} is not a port: write one from 1 to 65535, as in tcp://gpu-0:5557`,
  ])
})

test.each(['ümlaut', '-x', '@', 'a/b', '%', 'lo;127.0.0.1'])('a host that is none is named: %s', (host) => {
  expect(faultsOf({ events: `tcp://${host}:5557` })).toEqual([
    `events: '${host}' is neither a host name nor an address: write where the engine runs, as in tcp://gpu-0:5557`,
  ])
})

test.each(['openai', undefined] as const)('events are read of engines of a known kind only: %s', (kind) => {
  const faults = findEngineFaults({ url: 'http://a', ...(kind && { kind }), events: 'tcp://a:1' })
  expect(faults).toEqual([['events', 'need kind=vllm or kind=sglang: say which of them the engine is']])
})

test.each(['http://me:hush@gpu-0:8000', 'http://:hush@gpu-0', 'https://me@gpu-0/v1'])(
  'a user or password in a URL, which no engine would see, is a fault that does not repeat it: %s',
  (url) => {
    const faults = faultsOf({ url })
    expect(faults).toEqual([expect.stringMatching(/^url: .*api_key/)])
    expect(faults.join()).not.toContain('hush')
  },
)

test.each(['http://gpu-0:8000/v1?key=hush', 'http://gpu-0:8000#hush', 'http://gpu-0?', 'https://gpu-0/#'])(
  'a query or fragment in a URL, which no engine would see, is a fault that does not repeat it: %s',
  (url) => {
    expect(faultsOf({ url })).toEqual([
      'url: has a query or a fragment, which are not sent: leave out what begins with ? or #',
    ])
  },
)

test.each([':8000', ':80', ':80/v1'])('with SRV records, which name the port, the URL has none: %s', (rest) => {
  const url = `http://_http._tcp.vllm.ai.svc.cluster.local`
  expect(faultsOf({ url: `${url}${rest}`, discover: 'srv' })).toEqual([
    'url: has a port, which SRV records name: leave it out',
  ])
  expect(faultsOf({ url, discover: 'srv' })).toEqual([])
})
