import { expect, test } from 'vitest'
import { readRedisUrl } from './read-redis-url.ts'

test('a single server is read with its defaults', () => {
  expect(readRedisUrl('redis://cache')).toEqual({
    kind: 'single',
    isTls: false,
    nodes: [{ host: 'cache', port: 6379 }],
    master: undefined,
    username: undefined,
    password: undefined,
    database: 0,
  })
})

test('user, password, database, TLS and addresses of six bytes and more are read', () => {
  expect(readRedisUrl('rediss://me:p%40ss%3A@[::1]:6380/3')).toMatchObject({
    isTls: true,
    nodes: [{ host: '::1', port: 6380 }],
    username: 'me',
    password: 'p@ss:',
    database: 3,
  })
  expect(readRedisUrl('redis://:secret@h')).toMatchObject({ username: undefined, password: 'secret' })
})

test('sentinels come with their master, a cluster with its nodes', () => {
  expect(readRedisUrl('rediss+sentinel://:pw@a:1,b/mine/2')).toMatchObject({
    kind: 'sentinel',
    isTls: true,
    nodes: [
      { host: 'a', port: 1 },
      { host: 'b', port: 26379 },
    ],
    master: 'mine',
    password: 'pw',
    database: 2,
  })
  expect(readRedisUrl('redis+cluster://a:1,b:2')).toMatchObject({
    kind: 'cluster',
    nodes: [
      { host: 'a', port: 1 },
      { host: 'b', port: 2 },
    ],
  })
})

test.each([
  ['http://a', /not the URL of a Redis/],
  ['redis://', /not the URL of a Redis/],
  ['redis://a,b', /several servers/],
  ['redis://a:99999', /host or port/],
  ['redis://a/one', /no number/],
  ['redis+sentinel://a:1', /which master/],
  ['redis+cluster://a:1/2', /a cluster has but one/],
  ['redis://:hunter2%@h', /write %25/],
])('what cannot be used is refused, and its password not repeated: %s', (url, message) => {
  expect(() => readRedisUrl(url)).toThrow(message)
  expect(() => readRedisUrl(url)).not.toThrow(/hunter2/)
})
