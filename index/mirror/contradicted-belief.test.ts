import { expect, test } from 'vitest'
import type { RequestId } from '../context-block.ts'
import { cutContradicted } from './believed-cache.ts'
import type { CacheMirror } from './cache-mirror.ts'
import { createMirror, promptOf, sendAll } from './sent-prompts.fixture.ts'

function contradict(mirror: CacheMirror, blocks: readonly string[], cachedTokens: number, until: string): void {
  const contradiction = {
    prompt: promptOf(blocks),
    cachedTokens,
    tokensPerCharacter: 0.25,
    until: until as RequestId,
  }
  cutContradicted(mirror, contradiction, (cut) => mirror.apply(cut))
}

const lengths = (mirror: CacheMirror, ...requests: string[]): number[] =>
  requests.map((request) => mirror.heldOf(request as RequestId)?.cachedLength ?? 0)

test('whoever was to hold what the engine did not find is cut to what it found', () => {
  const mirror = createMirror()
  sendAll(mirror, ['a', 'b', 'c'], ['a', 'd'], ['e'], ['a', 'b', 'x'])
  // of a, b and x, the engine found only the system text and a
  contradict(mirror, ['a', 'b', 'x'], 50, 'abx')
  expect(lengths(mirror, 'abc', 'ad', 'e', 'abx')).toEqual([200, 300, 200, 400])
})

test('what was sent while the request waited or ran may be newer than what the engine said', () => {
  const mirror = createMirror()
  sendAll(mirror, ['a', 'b'], ['a', 'c'], ['a', 'd'])
  contradict(mirror, ['a', 'd'], 0, 'ac')
  expect(lengths(mirror, 'ab', 'ac', 'ad')).toEqual([0, 300, 300])
})

test('a request that ran meanwhile and holds nothing of the prompt keeps what was sent after it', () => {
  const mirror = createMirror()
  sendAll(mirror, ['a', 'b'], ['x', 'y'], ['a', 'c'], ['a', 'd'])
  contradict(mirror, ['a', 'd'], 25, 'xy')
  expect(lengths(mirror, 'ab', 'xy', 'ac', 'ad')).toEqual([100, 300, 300, 300])
})

test('an engine that found all of a prompt denies nothing', () => {
  const mirror = createMirror()
  sendAll(mirror, ['a', 'b'], ['a'])
  contradict(mirror, ['a'], 50, 'a')
  expect(lengths(mirror, 'ab')).toEqual([300])
})
