import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { collectGarbage } from '../bounds/memory-release.ts'
import { allocateLarge } from './large-buffers.ts'

const megabyte = 1024 * 1024
const isSeen = (buffer: Buffer): boolean => buffer.buffer instanceof ArrayBuffer

test('V8 is told of large bodies only beyond a bound, and no more once the others are collected', async () => {
  let kept: Buffer[] = [allocateLarge(64 * megabyte), allocateLarge(64 * megabyte), allocateLarge(megabyte)]
  expect(kept.map(isSeen)).toEqual([false, false, true])
  expect(kept.map(({ length }) => length)).toEqual([64 * megabyte, 64 * megabyte, megabyte])
  expect(kept[0]!.subarray(0, megabyte).every((byte) => byte === 0)).toBe(true)
  kept = []
  for (let tries = 0; tries < 50; tries++) {
    collectGarbage()
    await delay(10)
    if (!isSeen(allocateLarge(megabyte))) return
  }
  expect.fail('memory that was collected still counts')
})
