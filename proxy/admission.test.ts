import { expect, test, vi } from 'vitest'
import { Admission } from './admission.ts'

const never = new AbortController().signal

test('with an idle engine nothing waits, and what shares nothing never does', async () => {
  const admission = new Admission({ windowMilliseconds: 60_000, capacity: 10 })
  await admission.admit({ searchPath: ['a', 0] }, never)
  await admission.admit({ searchPath: [] }, never)
  expect(admission.depth).toBe(0)
})

test('requests that wait leave in groups when the engine becomes idle', async () => {
  const admission = new Admission({ windowMilliseconds: 60_000, capacity: 10 })
  await admission.admit({ searchPath: ['x'] }, never)
  const left: string[] = []
  const enter = (name: string, ...path: string[]): Promise<unknown> =>
    admission.admit({ searchPath: path }, never).then(() => left.push(name))
  const waiting = [enter('a1', 'a'), enter('b1', 'b'), enter('a2', 'a', '2')]
  expect(admission.depth).toBe(3)
  admission.leave()
  await Promise.all(waiting)
  expect(left).toEqual(['a1', 'a2', 'b1'])
})

test('no request waits longer than the window, however busy the engine is', async () => {
  vi.useFakeTimers()
  try {
    let now = 0
    const admission = new Admission({ windowMilliseconds: 20, capacity: 10, now: () => now })
    await admission.admit({ searchPath: ['x'] }, never)
    const waiting = admission.admit({ searchPath: ['y'] }, never)
    now = 20
    vi.advanceTimersByTime(20)
    await waiting
    expect(admission.depth).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})

test('a full window refuses with queue_full and says when to come again', async () => {
  const admission = new Admission({ windowMilliseconds: 60_000, capacity: 1 })
  await admission.admit({ searchPath: ['x'] }, never)
  void admission.admit({ searchPath: ['y'] }, never)
  await expect(admission.admit({ searchPath: ['z'] }, never)).rejects.toMatchObject({
    code: 'queue_full',
    headers: { 'retry-after': '1' },
  })
})

test('a client that leaves gives up its place', async () => {
  const admission = new Admission({ windowMilliseconds: 60_000, capacity: 1 })
  await admission.admit({ searchPath: ['x'] }, never)
  const aborter = new AbortController()
  const waiting = admission.admit({ searchPath: ['y'] }, aborter.signal)
  aborter.abort(new Error('left'))
  await expect(waiting).rejects.toThrow('left')
  expect(admission.depth).toBe(0)
})

test('a deadline closes a window that is open already', async () => {
  vi.useFakeTimers()
  try {
    let now = 0
    const admission = new Admission({ windowMilliseconds: 60_000, capacity: 10, now: () => now })
    await admission.admit({ searchPath: ['x'] }, never)
    const waiting = [
      admission.admit({ searchPath: ['y'] }, never),
      admission.admit({ searchPath: ['z'], deadline: 20 }, never),
    ]
    now = 20
    vi.advanceTimersByTime(20)
    await Promise.all(waiting)
    expect(admission.depth).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})

test('those that leave together leave by priority', async () => {
  const admission = new Admission({ windowMilliseconds: 60_000, capacity: 10 })
  await admission.admit({ searchPath: ['x'] }, never)
  const left: string[] = []
  const enter = (name: string, priority: number): Promise<unknown> =>
    admission.admit({ searchPath: [name], priority }, never).then(() => left.push(name))
  const waiting = [enter('late', 7), enter('soon', -7), enter('ordinary', 0)]
  admission.leave()
  await Promise.all(waiting)
  expect(left).toEqual(['soon', 'ordinary', 'late'])
})
