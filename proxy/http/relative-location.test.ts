import fc from 'fast-check'
import { expect, test } from 'vitest'
import { withRelativeLocations } from './forwarded-headers.ts'

const at = (location: string, engine = 'http://gpu-0:8000'): unknown =>
  withRelativeLocations({ location }, engine).location

test.each([
  ['http://gpu-0:8000/v1/chat/completions', '/v1/chat/completions'],
  ['http://gpu-0:8000/v1/files?after=a%2Fb&b#top', '/v1/files?after=a%2Fb&b#top'],
  ['HTTP://GPU-0:8000/v1/models', '/v1/models'],
  ['//gpu-0:8000/v1/models', '/v1/models'],
  // behind a TLS terminator an engine does not know its own scheme
  ['https://gpu-0:8000/v1/models', '/v1/models'],
  ['http://user:secret@gpu-0:8000/v1/models', '/v1/models'],
  ['http://gpu-0:8000', '/'],
  ['http://gpu-0:8000?a=1', '/?a=1'],
])('%s is made relative', (location, relative) => {
  expect(at(location)).toBe(relative)
})

test.each([
  'https://login.example/authorize?next=http://gpu-0:8000/',
  'http://gpu-0:8001/v1/models',
  'http://gpu-0/v1/models',
  'http://gpu-0:8000.example/',
  'http://gpu-0:8000@evil.example/',
  '/v1/models',
  'models/x',
  '',
  'http://[',
])('%s is left alone', (location) => {
  expect(at(location)).toBe(location)
})

test('the path that leads to the engine is taken away, too', () => {
  const engine = 'http://gateway/llm/a/v1'
  expect(at('http://gateway/llm/a/v1/models', engine)).toBe('/v1/models')
  expect(at('/llm/a/v1/models', engine)).toBe('/v1/models')
  expect(at('http://gateway:80/llm/a', engine)).toBe('/')
  expect(at('http://gateway/llm/ab/v1/models', engine)).toBe('/llm/ab/v1/models')
  expect(at('/llm/b/v1/models', engine)).toBe('/llm/b/v1/models')
  expect(at('/llm/a?b=1', engine)).toBe('/?b=1')
  expect(at('/llm/a//evil.example', engine)).toBe('/.//evil.example')
})

test('what becomes relative stays a path of the proxy', () => {
  for (const rest of ['//evil.example/x', '/\\evil.example', '///evil.example']) {
    const relative = String(at(`http://gpu-0:8000${rest}`))
    expect(new URL(relative, 'http://proxy.example/v1/x').origin).toBe('http://proxy.example')
  }
})

test('a client is led to the same path and query, and never to the engine', () => {
  fc.assert(
    fc.property(fc.webPath(), fc.webQueryParameters(), (path, query) => {
      const location = `http://gpu-0:8000${path}?${query}`
      const relative = String(at(location))
      expect(relative).not.toContain('gpu-0')
      const led = new URL(relative, 'http://proxy.example/v1/chat/completions')
      const meant = new URL(location)
      expect([led.origin, led.search]).toEqual(['http://proxy.example', meant.search])
      expect(led.pathname).toBe(meant.pathname)
    }),
  )
})

test('content-location is treated alike, several values each, other headers not at all', () => {
  const headers = {
    'content-location': ['http://gpu-0:8000/a', 'http://other/b'],
    link: '<http://gpu-0:8000/a>',
  }
  expect(withRelativeLocations(headers, 'http://gpu-0:8000')).toEqual({
    'content-location': ['/a', 'http://other/b'],
    link: '<http://gpu-0:8000/a>',
  })
})
