import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toReplayRequests } from '../replay-request.ts'
import { TraceBlock } from '../trace/trace.ts'
import { BlockParts, countSeenBefore, PromptLayout } from './prompt-layout.ts'

const frame = { systemTokens: 0, questionTokens: 0 }
const stretches = fc.array(fc.record({ key: fc.constantFrom(...'abcdef'), characters: fc.constant(40) }), {
  minLength: 1,
  maxLength: 8,
})
const blocks = fc
  .array(fc.record({ stretches, tokens: fc.integer({ min: 80, max: 400 }) }), { minLength: 1, maxLength: 6 })
  .map((all) => all.map((content, id) => new TraceBlock(id, content)))

test('a block has all its tokens, unless a stretch of it was sized before', () => {
  const parts = new BlockParts()
  const halves = [
    { key: 'a', characters: 40 },
    { key: 'b', characters: 40 },
  ]
  expect(parts.of(new TraceBlock('x', { tokens: 7, stretches: halves }))).toEqual([
    { key: 'stretch a', tokens: 4 },
    { key: 'stretch b', tokens: 3 },
  ])
  expect(parts.of(new TraceBlock('y', { tokens: 100, stretches: halves })).map(({ tokens }) => tokens)).toEqual([4, 3])
  expect(parts.of(new TraceBlock('z', { tokens: 5 }))).toEqual([{ key: '"z"', tokens: 5 }])
})

test('prompts share the tokens of the stretches that they begin with', () => {
  fc.assert(
    fc.property(blocks, (all) => {
      const requests = toReplayRequests(
        all.map((block, i) => ({
          queryId: i,
          query: undefined,
          conversation: undefined,
          tenant: 't',
          blocks: [block],
          around: { front: [], rest: [] },
        })),
      )
      const layout = new PromptLayout(requests, frame)
      const sent = requests.map((request) => layout.tokensOf(request, [0]))
      const parts = new BlockParts()
      const divided = all.map((block) => parts.of(block))
      for (const [i, own] of divided.entries()) {
        const common = own.findIndex(({ key }, at) => key !== divided[0]![at]?.key)
        const shared = (common < 0 ? own : own.slice(0, common)).reduce((sum, { tokens }) => sum + tokens, 0)
        let equal = 0
        while (equal < sent[i]!.length && sent[i]![equal] === sent[0]![equal]) equal += 1
        expect(equal).toBe(shared)
      }
      const total = sent.reduce((sum, { length }) => sum + length, 0)
      expect(countSeenBefore(requests, frame)).toBeLessThanOrEqual(total)
    }),
  )
})
