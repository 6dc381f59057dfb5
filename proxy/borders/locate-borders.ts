import type { ReusedContext } from '../reuse/reused-prompt.ts'
import { toTokenBytes } from './token-bytes.ts'

/** Enough of a block to tell it from others. */
const longestNeedle = 256

/**
 * Returns how many of a prompt's tokens lie before the first block of a context, and before the end of each: of the
 * content, so that what closes a block counts as behind it. Undefined for blocks whose text is not found before that of
 * the next one, because the chat template changes it. Never more than prompts share that part there.
 */
export function locateBlocks(
  tokens: readonly string[],
  { found, order, pointers }: Pick<ReusedContext, 'found' | 'order' | 'pointers'>,
  texts: readonly string[],
): { readonly start: number | undefined; readonly ends: readonly (number | undefined)[] } {
  const { bytes, ends } = toTokenBytes(tokens)
  const countUpTo = (offset: number): number => countWithin(ends, offset)
  const cut = new Set(pointers.map(({ place }) => place))
  let before = bytes.length
  let first: number | undefined
  // from the end, because a context may repeat what earlier turns quote
  const located = order.toReversed().map((from, i) => {
    const { text, content } = found.slots[from]!
    const own = Buffer.from(texts[text]!.slice(content.start, content.end))
    const needle = own.subarray(Math.max(0, own.length - longestNeedle))
    const at = cut.has(order.length - 1 - i) ? -1 : bytes.lastIndexOf(needle, before - needle.length)
    first = at < 0 ? undefined : at + needle.length - own.length
    if (first === undefined) return undefined
    before = Math.max(0, first)
    return countUpTo(at + needle.length)
  })
  // labels and tags in front of a block may move with it
  const heads = found.slots.map(({ text, start, content }) =>
    Buffer.byteLength(texts[text]!.slice(start, content.start)),
  )
  const start = first === undefined ? undefined : countUpTo(first - Math.max(...heads))
  return { start, ends: located.reverse() }
}

/** Returns how many tokens end within the first `offset` bytes. */
function countWithin(ends: readonly number[], offset: number): number {
  let [low, high] = [0, ends.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (ends[middle]! <= offset) low = middle + 1
    else high = middle
  }
  return low
}
