import { expect, test } from 'vitest'
import { byteLines } from './byte-lines.ts'

test('a line that is too long is refused before all of it is read', () => {
  const piece = Buffer.alloc(1 << 20, 'x')
  let read = 0
  function* pieces(): Generator<Buffer> {
    yield Buffer.from('{}\n')
    for (; read < 1_000; read++) yield piece
  }
  expect(() => [...byteLines('batch.jsonl', pieces())]).toThrow(
    'batch.jsonl: line 2 is longer than 256 MiB: write a line for each object.',
  )
  expect(read).toBeLessThan(260)
})
