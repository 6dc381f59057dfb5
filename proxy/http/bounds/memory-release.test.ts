import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { memoryRelease } from './body-memory.ts'

const megabyte = 1024 * 1024
const second = 1_000

let collected: number
let note: (bytes: number) => void
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  collected = 0
  note = memoryRelease(() => {
    collected += 1
  })
})
afterEach(() => {
  vi.useRealTimers()
})

function burst(megabytes: number): void {
  note(megabytes * megabyte)
  note(0)
}

test('memory is given back behind a burst of large bodies, once it is over', () => {
  note(200 * megabyte)
  vi.advanceTimersByTime(10 * second)
  expect(collected).toBe(0)
  note(0)
  expect(collected).toBe(0)
  vi.advanceTimersByTime(10 * second)
  expect(collected).toBe(1)
  vi.advanceTimersByTime(1_000 * second)
  expect(collected).toBe(1)
})

test('ordinary bodies are left to V8', () => {
  for (let i = 0; i < 1_000; i++) burst(100)
  vi.advanceTimersByTime(1_000 * second)
  expect(collected).toBe(0)
})

test('while bursts come in a row nobody waits for a collection', () => {
  for (let i = 0; i < 20; i++) {
    burst(300)
    vi.advanceTimersByTime(9 * second)
  }
  expect(collected).toBe(0)
  vi.advanceTimersByTime(second)
  expect(collected).toBe(1)
})
