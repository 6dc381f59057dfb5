import type { BlockSpan, ContextList } from '../context-list.ts'
import { findIndexFrom } from '../scan/find-edges.ts'

/** A line that begins with its speaker, such as `Human:` and `### Response:`. */
interface SpeakerLine {
  readonly start: number
  readonly isAssistant: boolean
}

// endings of such speaker names
const ASSISTANT_SIGNS = ['stant:', 'STANT:', 'AI:', 'ot:', 'OT:', 'sponse:', 'ude:', 'GPT:']
const OTHER_SIGNS = ['man:', 'MAN:', 'ser:', 'SER:', 'tem:', 'TEM:', 'ction:', 'nput:', 'vation:', 'ool:']

const DECORATION = '[ \\t]{0,3}(?:</?s>\\s?)?(?:#{1,6} ?|\\*\\*)?'
const ASSISTANT = new RegExp(
  `^${DECORATION}(?:(?:AI[ _])?Assistant|AI|(?:Chat)?Bot|ChatGPT|GPT|Claude|(?<=# ?)Response):$`,
  'i',
)
const OTHER = new RegExp(`^${DECORATION}(?:Human|User|System|Instruction|Input|Observation|Tool):$`, 'i')
// templates like Vicuna's continue on the same line
const INLINE = /[\s>](?:USER|ASSISTANT):$/
const LONGEST_NAME = 32

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
  const answers = findSpeakers(text, ASSISTANT_SIGNS, true)
  const opening = findOpening(text)
  if (answers.length === 0 && opening === undefined) return lists
  const speakers = [...answers, ...findSpeakers(text, OTHER_SIGNS, false)].sort((a, b) => a.start - b.start)
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

function findSpeakers(text: string, signs: readonly string[], isAssistant: boolean): SpeakerLine[] {
  const lines: SpeakerLine[] = []
  const pattern = isAssistant ? ASSISTANT : OTHER
  const lastLetters = new Set(signs.map((sign) => sign.at(-2)))
  // colons are rare, and most follow other letters; searching for each sign separately is many times slower
  for (let colon = text.indexOf(':'); colon >= 0; colon = text.indexOf(':', colon + 1)) {
    if (!lastLetters.has(text[colon - 1])) continue
    const end = colon + 1
    const sign = signs.find((one) => text.startsWith(one, end - one.length))
    if (sign === undefined) continue
    // lines may be very long, so only the length of a name and its decoration is read
    const words = text.slice(Math.max(end - LONGEST_NAME, 0), end)
    const line = words.slice(words.lastIndexOf('\n') + 1)
    const isCut = line.length === LONGEST_NAME && text[end - LONGEST_NAME - 1] !== '\n'
    if (INLINE.test(line) || (!isCut && pattern.test(line))) lines.push({ start: end - sign.length, isAssistant })
  }
  return lines
}

function findOpening(text: string): number | undefined {
  const from = Math.max(text.length - LONGEST_OPENING, 0)
  const match = OPENING.exec(text.slice(from))
  return match === null ? undefined : from + match.index + 1
}
