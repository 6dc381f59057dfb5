import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toBlockId } from '#index/context-block.ts'
import type { PromptPart } from '../reuse/two-worlds.ts'
import { standInCharacters, toStandIns as toNumbers } from './stand-in-tokens.ts'

const texts = fc.array(fc.string({ maxLength: 60, unit: fc.constantFrom('a', 'b', '\n', 'é') }), { maxLength: 6 })

const asText = (text: string): PromptPart => ({ text, block: undefined })
const toStandIns = (parts: readonly string[]): Uint32Array => toNumbers(parts.map(asText))

test('one number stands for 64 characters, wherever texts begin', () => {
  fc.assert(
    fc.property(texts, (parts) => {
      const whole = parts.join('')
      expect(toStandIns(parts)).toEqual(toStandIns([whole]))
      expect(toStandIns(parts)).toHaveLength(Math.ceil(whole.length / standInCharacters))
    }),
  )
})

test('prompts share as many numbers in front as they share whole stretches', () => {
  fc.assert(
    fc.property(texts, texts, texts, (front, left, right) => {
      const [a, b] = [[...front, ...left].join(''), [...front, ...right].join('')]
      const [numbersA, numbersB] = [toStandIns([a]), toStandIns([b])]
      let shared = 0
      while (shared < a.length && a[shared] === b[shared]) shared += 1
      let equal = 0
      while (equal < numbersA.length && numbersA[equal] === numbersB[equal]) equal += 1
      expect(equal).toBeGreaterThanOrEqual(Math.floor(shared / standInCharacters))
      expect(equal).toBeLessThanOrEqual(Math.ceil(shared / standInCharacters))
    }),
  )
})

test('a block has the same numbers wherever it stands, one for 64 characters', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 100 }), texts, (block, front) => {
      const before = front.join('')
      const part: PromptPart = { text: block, block: toBlockId(block) }
      const count = Math.ceil(block.length / standInCharacters)
      const alone = toNumbers([part])
      expect(alone).toHaveLength(count)
      const behind = toNumbers([...(before === '' ? [] : [asText(before)]), part, asText('?')])
      expect(behind.slice(-1 - count, -1)).toEqual(alone)
    }),
  )
})
