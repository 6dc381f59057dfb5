import { expect, it } from 'vitest'
import { PrefixOrdering } from '#index/ordering/prefix-ordering.ts'
import { IndexPolicy } from './policies/policies.ts'
import { toReplayRequests } from './replay-request.ts'
import { PromptLayout } from './run/prompt-layout.ts'
import { TraceBlock, type TraceList, type TraceRequest } from './trace/trace.ts'

const pieces = new Map<string, TraceBlock>()

/** Every piece has one token for each of its characters. */
function piece(text: string): TraceBlock {
  const known = pieces.get(text) ?? new TraceBlock(text, { tokens: text.length, characters: 10 * text.length })
  pieces.set(text, known)
  return known
}

/** Writes blocks as `<1=name>content`, with a comma between two. */
function listed(
  blocks: readonly (readonly [name: string, content: string])[],
  rest: Partial<TraceList> = {},
): TraceRequest {
  return {
    queryId: 'q',
    query: undefined,
    conversation: undefined,
    tenant: 't',
    blocks: blocks.map(([, content]) => piece(content)),
    around: { front: [piece('front')], rest: [piece('rest')] },
    list: {
      blocks: blocks.map(([name, content]) => [piece('<'), undefined, piece(`=${name}>`), piece(content)]),
      labels: blocks.map((_, i) => piece(String(i + 1))),
      gaps: blocks.slice(1).map(() => [piece(',')]),
      shortened: [],
      stays: false,
      orderTokens: 4,
      ...rest,
    },
  }
}

const three = listed([
  ['x', 'aaaa'],
  ['y', 'bb'],
  ['z', 'cccccc'],
])

it('blocks are the same if the engine sees the same, and their sizes are in characters', () => {
  const others = listed([
    ['z', 'cccccc'],
    ['other', 'bb'],
  ])
  const [first, second] = toReplayRequests([three, others])
  expect(second!.context[0]).toBe(first!.context[2])
  expect(second!.context[1]).not.toBe(first!.context[1])
  expect(first!.sizes).toEqual([90, 70, 110])
})

it('a list that stays is not ordered', () => {
  const stays = listed([['x', 'aaaa']], { stays: true })
  expect(toReplayRequests([three, stays]).map(({ fixed }) => fixed)).toEqual([false, true])
})

it('labels and gaps stay in their places, and another order is told', () => {
  const [request] = toReplayRequests([three])
  const layout = new PromptLayout([request!], { systemTokens: 0, questionTokens: 0 })
  const [received, moved] = [layout.tokensOf(request!, [0, 1, 2]), layout.tokensOf(request!, [2, 0, 1])]
  expect(received).toHaveLength('front<1=x>aaaa,<2=y>bb,<3=z>ccccccrest'.length)
  expect(layout.lengthOf(request!)).toBe(received.length)
  expect(moved).toHaveLength(received.length + 4)
  expect(layout.lengthOf(request!, [2, 0, 1])).toBe(moved.length)
  expect(moved['front<'.length]).toBe(received['front<'.length])
  const [second, movedSecond] = ['front<1=x>aaaa', 'front<1=z>cccccc'].map(({ length }) => length) as [number, number]
  // the comma, the sign before the label, and the label
  expect(moved.slice(movedSecond, movedSecond + 3)).toEqual(received.slice(second, second + 3))
  expect(moved.slice(-4)).toEqual(received.slice(-4))
  expect(layout.blocksWithin(request!, [2, 0, 1], 'front<1=z>cccccc'.length - 1)).toBe(0)
  expect(layout.blocksWithin(request!, [2, 0, 1], 'front<1=z>cccccc,'.length)).toBe(1)
})

it('a list in another order has its pointers, and is held as it was sent', () => {
  const shortened = [undefined, undefined, [piece('<'), undefined, piece('=z>'), piece('see 1')]]
  const [request] = toReplayRequests([{ ...three, list: { ...three.list!, shortened } }])
  const layout = new PromptLayout([request!], { systemTokens: 0, questionTokens: 0 })
  const lengths = [layout.lengthOf(request!, [0, 1, 2]), layout.lengthOf(request!, [2, 0, 1])]
  expect(lengths[1]! - lengths[0]!).toBe(4 - 'cccccc'.length + 'see 1'.length)
  expect(layout.tokensOf(request!, [2, 0, 1])).toHaveLength(lengths[1]!)
  expect(request!.shortened.slice(0, 2)).toEqual(request!.context.slice(0, 2))
  expect(request!.shortened[2]).not.toBe(request!.context[2])
})

it('what repeats an earlier block is sent last if anything moves', () => {
  const policy = new IndexPolicy(() => new PrefixOrdering())
  const [first, second, third] = toReplayRequests([
    listed([
      ['y', 'bb'],
      ['x', 'aaaa'],
    ]),
    listed([
      ['x', 'aaaa'],
      ['x2', 'aaaa'],
      ['y', 'bb'],
    ]),
    listed([
      ['y', 'bb'],
      ['y2', 'bb'],
      ['x', 'aaaa'],
    ]),
  ])
  policy.holds(first!, [0, 1], 2)
  expect(policy.order(second!)).toEqual([2, 0, 1])
  expect(policy.order(third!)).toEqual([0, 1, 2])
})
