import { expect, test } from 'vitest'
import { readEngine, readListenAddress, readNumber } from './read-arguments.ts'

test.each([
  ['127.0.0.1:80', { host: '127.0.0.1', port: 80 }],
  ['[::1]:8080', { host: '::1', port: 8080 }],
  [':0', { host: '127.0.0.1', port: 0 }],
  ['proxy.local:9', { host: 'proxy.local', port: 9 }],
])('an address is read: %s', (text, address) => {
  expect(readListenAddress(text)).toEqual(address)
})

test.each(['8080', 'x:', 'x:70000', 'x:y', ''])('what is no address is an error: %s', (text) => {
  expect(() => readListenAddress(text)).toThrow(/write HOST:PORT/)
})

test('an engine has a URL, and may have a kind, a name, and places where it tells its events', () => {
  expect(readEngine('http://h:1')).toEqual({ url: 'http://h:1' })
  expect(readEngine('https://h/v1,id=gpu-0,kind=sglang')).toEqual({ url: 'https://h/v1', kind: 'sglang', id: 'gpu-0' })
  expect(readEngine('http://h,events=tcp://h:5557,replay=tcp://[::1]:5558')).toEqual({
    url: 'http://h',
    events: 'tcp://h:5557',
    replay: 'tcp://[::1]:5558',
  })
})

test.each([
  'h:1',
  'http://h,kind=x',
  'http://h,id=a b',
  'http://h,nonsense',
  'http://h,events=h:1',
  'http://h,replay=tcp://h',
])('what is no engine is an error: %s', (text) => {
  expect(() => readEngine(text)).toThrow(/is not the URL of an engine|is not a setting of --engine/)
})

test.each(['http://h:1/v1?key=hush', 'http://h#hush,kind=vllm'])(
  'a query in the URL of an engine is refused: %s',
  (text) => {
    expect(() => readEngine(text)).toThrow(
      /^The URL of an engine has a query or a fragment, which are not sent: leave /,
    )
  },
)

test('numbers are whole and at least what they must be', () => {
  expect(readNumber('5', 1)).toBe(5)
  for (const text of ['0', '1.5', 'x', '-1', '']) expect(() => readNumber(text, 1)).toThrow(/whole number/)
})
