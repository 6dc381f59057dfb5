import fc from 'fast-check'
import { expect, test } from 'vitest'
import { askedFor, blocksNamed, describeHotBlocks, expectBounds } from './hot-blocks.contract.ts'
import { MemoryHotBlocks } from './memory-hot-blocks.ts'

describeHotBlocks('in memory', (capacity) => new MemoryHotBlocks(capacity))

test('what several have counted and one adds up is in the same bounds as if one had counted it all', () => {
  const capacity = 4
  fc.assert(
    fc.property(fc.array(askedFor, { maxLength: 5 }), (parts) => {
      const sum = new MemoryHotBlocks(capacity)
      for (const names of parts) {
        const part = new MemoryHotBlocks(capacity)
        for (const block of blocksNamed(...names)) part.note([block], [1])
        sum.add(part)
      }
      expect(sum.size).toBeLessThanOrEqual(2 * capacity)
      expectBounds(sum, parts.flat(), parts.flat().length / capacity)
    }),
  )
})
