import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { Sender } from './sender.fixture.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

test('what is remembered of a prompt does not keep the whole of it in memory', () => {
  const sender = new Sender()
  const prompts = 20
  const size = 1_000_000
  const send = (i: number): void => {
    const document = `<document id="a-label-that-is-long-enough-to-be-cut-${i}">\n${`${i}: all of it\n`.repeat(30)}</document>`
    const context = `<documents>\n${document}\n<document id="b-label-that-is-long-enough-${i}">\nother</document>\n</documents>`
    sender.send([
      { role: 'system', content: `${i} ${'x'.repeat(size)}` },
      { role: 'user', content: `${context}\n\nWhat? ${'y'.repeat(size)}` },
      { role: 'user', content: `${context}\n\nAnd again? ${'z'.repeat(size)}` },
    ])
  }
  send(0)
  collect()
  const before = process.memoryUsage().heapUsed
  for (let i = 1; i <= prompts; i++) send(i)
  collect()
  const kept = (process.memoryUsage().heapUsed - before) / prompts
  expect(kept).toBeLessThan(size / 10)
})
