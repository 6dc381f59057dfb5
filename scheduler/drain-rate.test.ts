import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DrainRate } from './drain-rate.ts'

test('before anything is known, one request is taken to leave in a second', () => {
  const rate = new DrainRate()
  rate.resume(5_000)
  expect(rate.timeFor(3, 5_000)).toBe(3_000)
})

test('a steady rate is found within its first seconds, and a change within the next ten', () => {
  const rate = new DrainRate()
  let now = 0
  rate.resume(now)
  const drain = (milliseconds: number, every: number): void => {
    for (const end = now + milliseconds; now < end; ) {
      now += every
      rate.note(1, now)
    }
  }
  drain(3_000, 10)
  expect(rate.timeFor(100, now)).toBeGreaterThan(950)
  expect(rate.timeFor(100, now)).toBeLessThan(1_400)
  drain(30_000, 100)
  expect(rate.timeFor(100, now)).toBeGreaterThan(6_000)
  expect(rate.timeFor(100, now)).toBeLessThan(10_100)
})

test('time in which nothing waited is not counted, time in which nothing left is', () => {
  const [idle, stuck] = [new DrainRate(), new DrainRate()]
  for (const rate of [idle, stuck]) {
    rate.resume(0)
    for (let now = 100; now <= 10_000; now += 100) rate.note(1, now)
  }
  const before = idle.timeFor(10, 10_000)
  idle.resume(3_600_000)
  expect(idle.timeFor(10, 3_600_000)).toBe(before)
  expect(stuck.timeFor(10, 40_000)).toBeGreaterThan(10 * before)
})

test('is a time whatever happens, and the longer the more have to leave', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(60_000), fc.nat(100)), { maxLength: 30 }), (drains) => {
      const rate = new DrainRate()
      let now = 0
      for (const [after, requests] of drains) {
        now += after
        rate.note(requests, now)
        expect(rate.timeFor(1, now)).toBeGreaterThan(0)
        expect(rate.timeFor(2, now)).toBeGreaterThan(rate.timeFor(1, now))
      }
    }),
  )
})
