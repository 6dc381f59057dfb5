import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Context } from '#index/context-block.ts'
import { contextDistance } from './context-distance.ts'
import { attach, type ContextNode, createNode, detach } from './context-tree.ts'
import { NearestChild } from './nearest-child.ts'

const contexts: fc.Arbitrary<Context> = fc
  .array(fc.constantFrom(...'abcdefghij'), { minLength: 1, maxLength: 7 })
  .map((blocks) => blocks as unknown as Context)

/** Line 3 of Algorithm 1 as printed, over all children. */
function scan(node: ContextNode, context: Context, alpha: number): ContextNode | undefined {
  const added = context.filter((block) => !node.blocks.includes(block))
  return [...node.children.values()]
    .filter((child) => child.blocks.some((block) => added.includes(block)))
    .sort((a, b) => a.slot - b.slot)
    .reduce<ContextNode | undefined>(
      (best, child) =>
        best && contextDistance(context, best.blocks, alpha) <= contextDistance(context, child.blocks, alpha)
          ? best
          : child,
      undefined,
    )
}

test('is the child that a scan of all of them finds, whatever their lengths and however much position weighs', () => {
  fc.assert(
    fc.property(
      fc.array(contexts, { maxLength: 2 }),
      fc.array(contexts, { maxLength: 12 }),
      fc.array(fc.nat(11), { maxLength: 4 }),
      fc.array(contexts, { minLength: 1, maxLength: 4 }),
      fc.constantFrom(0, 0.001, 0.01, 0.3),
      ([held = []], children, removed, searched, alpha) => {
        const parent = createNode(held)
        const nodes = children.map((blocks) => createNode(blocks))
        for (const node of nodes) attach(parent, node)
        for (const i of removed) if (nodes[i]) detach(nodes[i])
        const nearestChild = new NearestChild(alpha)
        // several searches, to check that none leaves state for the next
        for (const context of searched) expect(nearestChild.find(parent, context)).toBe(scan(parent, context, alpha))
      },
    ),
    { numRuns: 500 },
  )
})

test('a node with very many children is searched too', () => {
  const root = createNode([])
  for (let i = 0; i < 1000; i++) attach(root, createNode([`a${i}`, 'b'] as unknown as Context))
  const found = new NearestChild(0.001).find(root, ['b', 'a777'] as unknown as Context)
  expect(found?.blocks).toEqual(['a777', 'b'])
})
