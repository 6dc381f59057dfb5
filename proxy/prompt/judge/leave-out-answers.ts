import type { BlockSpan, ContextList } from '../context-list.ts'
import { findIndexFrom, narrow } from '../scan/find-edges.ts'

/** Where a speaker's name begins a turn, such as `Human:` and `### Response:`. */
interface Speaker {
  readonly start: number
  readonly isAssistant: boolean
}

const ASSISTANT = '(?:AI[ _])?Assistant|AI|(?:Chat)?Bot|ChatGPT|GPT|Claude|(?<=# ?)Response'
const SPEAKER = new RegExp(
  `^[ \\t]{0,3}(?:</?s>\\s?)?(?:#{1,6} ?|\\*\\*)?(?:(?<assistant>${ASSISTANT})|Human|User|System|Instruction|Input|Observation|Tool):`,
  'gim',
)
// templates like Vicuna's continue on the same line
const INLINE = /(?<=[\s>])(?:(?<assistant>ASSISTANT)|USER):/g

// the prompt ends where the assistant is to continue
const OPENING = /(?:^|[^\p{L}])(?:(?:AI[ _])?assistant|AI|bot|(?<=# ?)response):\s{0,8}$/iu
const LONGEST_OPENING = 32

/**
 * Leaves out lists inside assistant turns, in a prompt that names its speakers in plain words: from `Assistant:` up to
 * `Human:`. If the prompt's own turns begin with such words, also leaves out lists with such words in a block, because
 * moving the block would move the next speaker's turn with it.
 */
export function leaveOutAnswers(text: string, lists: readonly ContextList[]): readonly ContextList[] {
  if (lists.length === 0) return lists
  const opening = findOpening(text)
  if (opening === undefined && !mayNameAssistant(text)) return lists
  const speakers = findSpeakers(text)
  if (!speakers.some(({ isAssistant }) => isAssistant) && opening === undefined) return lists
  const blocks = lists.flatMap((list) => list.blocks)
  const own = speakers.filter(({ start }) => holderOf(blocks, start) === undefined)
  const isRendered = opening !== undefined || own.length > 0
  const torn = new Set(isRendered ? speakers.map(({ start }) => holderOf(blocks, start)) : [])
  return lists.filter((list) => {
    if (list.blocks.at(-1)!.end > (opening ?? text.length)) return false
    if (own[findIndexFrom(own, list.blocks[0]!.start) - 1]?.isAssistant) return false
    return !list.blocks.some((block) => torn.has(block))
  })
}

function holderOf(blocks: readonly BlockSpan[], at: number): BlockSpan | undefined {
  const block = blocks[findIndexFrom(blocks, at + 1) - 1]
  return block !== undefined && at < block.end ? block : undefined
}

const ENDS_IN_ASSISTANT = new RegExp(`(?:${ASSISTANT})$`, 'i')
const LONGEST_ASSISTANT = 12

/** Whether the text may hold an assistant's name with a colon: a look at each colon, which costs less than a pattern. */
function mayNameAssistant(text: string): boolean {
  for (let at = text.indexOf(':'); at >= 0; at = text.indexOf(':', at + 1)) {
    if (ENDS_IN_ASSISTANT.test(text.slice(Math.max(0, at - LONGEST_ASSISTANT), at))) return true
  }
  return false
}

function findSpeakers(text: string): Speaker[] {
  return [...text.matchAll(SPEAKER), ...text.matchAll(INLINE)]
    .map(({ index, groups }) => ({ start: index, isAssistant: groups?.assistant !== undefined }))
    .sort((a, b) => a.start - b.start)
}

function findOpening(text: string): number | undefined {
  const from = Math.max(text.length - LONGEST_OPENING, 0)
  const match = OPENING.exec(narrow(text.slice(from)))
  return match === null ? undefined : from + match.index + 1
}
