import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { allocateLarge } from '../../common/gathered-bytes.ts'
import { collectGarbage } from './body-memory.ts'

const megabyte = 1024 * 1024
const isSeen = (buffer: Buffer): boolean => buffer.buffer instanceof ArrayBuffer

/** Returns the buffers of 64 MB up to the first that V8 counts. */
function allocateUntilSeen(): Buffer[] {
  const buffers: Buffer[] = []
  while (buffers.length < 8 && !buffers.some(isSeen)) buffers.push(allocateLarge(64 * megabyte))
  return buffers
}

test('V8 counts large bodies only beyond a bound, and no more once the others are collected', async () => {
  const first = allocateLarge(64 * megabyte)
  expect(first.length).toBe(64 * megabyte)
  expect(first.subarray(0, megabyte).every((byte) => byte === 0)).toBe(true)
  expect(allocateUntilSeen().map(isSeen).at(-1)).toBe(true)
  for (let tries = 0; tries < 100; tries++) {
    collectGarbage()
    await delay(10)
    if (!isSeen(allocateLarge(megabyte))) return
  }
  expect.fail('memory that was collected still counts')
})
