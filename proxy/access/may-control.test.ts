import { expect, test } from 'vitest'
import { mayControl } from './may-control.ts'

const here = '127.0.0.1'

test.each([
  [{}],
  [{ host: '127.0.0.1:9090' }],
  [{ host: 'localhost:9090', origin: 'http://localhost:9090' }],
  [{ host: '[::1]:9090', origin: 'http://[::1]:9090' }],
])('who is on this machine may: %j', (headers) => {
  expect(mayControl(here, headers, undefined)).toBe(true)
  expect(mayControl('::ffff:127.0.0.1', headers, 'secret')).toBe(true)
})

test.each([
  [{ host: '127.0.0.1:9090', origin: 'http://evil.example' }],
  [{ host: 'localhost:9090', origin: 'http://localhost:8080' }],
  [{ host: '127.0.0.1:9090', origin: 'null' }],
  [{ host: 'evil.example:9090', origin: 'http://evil.example:9090' }],
  [{ host: 'evil.example' }],
])('a web page of somebody else’s in a browser on this machine may not: %j', (headers) => {
  expect(mayControl(here, headers, undefined)).toBe(false)
  expect(mayControl(here, { ...headers, authorization: 'Bearer wrong' }, 'secret')).toBe(false)
})

test('who shows the token may, from everywhere', () => {
  const authorization = 'Bearer secret'
  expect(mayControl('10.0.0.1', { host: 'reprise.example', authorization }, 'secret')).toBe(true)
  // scheme names are case-insensitive (RFC 9110 §11.1)
  expect(mayControl('10.0.0.1', { authorization: 'bearer secret' }, 'secret')).toBe(true)
  for (const wrong of ['secret', 'Basic secret', 'Bearer Secret', 'Bearer ', 'Bearer secret, Bearer secret'])
    expect(mayControl('10.0.0.1', { authorization: wrong }, 'secret')).toBe(false)
  expect(mayControl('10.0.0.1', { host: 'reprise.example', authorization }, undefined)).toBe(false)
  expect(mayControl('10.0.0.1', { host: 'reprise.example' }, 'secret')).toBe(false)
  expect(mayControl(undefined, {}, 'secret')).toBe(false)
})
