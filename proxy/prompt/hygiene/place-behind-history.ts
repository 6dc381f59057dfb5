import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import type { PromptMessage } from '../body/prompt.ts'
import { type PromptBody, writeBody } from '../body/prompt-body.ts'
import { spliceTexts } from '../body/splice-texts.ts'
import type { Cut, TextSplice } from '../body/text-splice.ts'
import { readPromptBody } from '../formats/read-prompt-body.ts'

const between = '\n\n'

/**
 * Moves what was retrieved for the newest question from the system message to the front of that question, byte for byte,
 * if there is a history between them. Nothing is remembered: a later turn moves its own, and has the questions before
 * as its client wrote them, so that what is in front of the newest question stays the same. Undefined if nothing is moved.
 */
export function placeBehindHistory(
  api: PromptApi,
  prompt: PromptBody,
  frames: readonly string[],
): PromptBody | undefined {
  const { prompts, texts } = prompt.set ?? { prompts: [], texts: [] }
  if (frames.length === 0 || prompts.length !== 1 || prompt.explicit) return undefined
  // marks say up to where a client wants its prompt cached
  if (prompt.json.includes('"cache_control"')) return undefined
  const { messages } = prompts[0]!
  const asked = messages.findLastIndex(isQuestion)
  const before = messages.slice(0, Math.max(0, asked))
  if (!before.some(({ role }) => role === 'assistant')) return undefined
  const own = before.filter(isSystem).flatMap((message) => message.texts)
  const plain = (text: number): boolean => !texts[text]!.isRaw
  const places = frames.flatMap((frame) => own.filter(plain).map((text) => ({ frame, text })))
  // what the first of the frames that fits encloses in one of the texts
  const [found] = places.flatMap(({ frame, text }) => findIn(texts[text]!.text, text, frame))
  const place = messages[asked]!.texts.find(plain)
  if (!found || place === undefined) return undefined
  const { text, start, end } = found
  const splices: TextSplice[][] = texts.map(() => [])
  splices[text] = [{ start, end, pieces: [] }]
  splices[place] = [{ start: 0, end: 0, pieces: [found, between] }]
  const written = writeBody(prompt, spliceTexts(prompt, { texts: texts.map((own) => own.text), splices }))
  return readPromptBody(api, written)
}

/** Returns none if a text does not have both words of the frame, or if nothing but what they enclose is in it. */
function findIn(whole: string, text: number, frame: string): Cut[] {
  const [from = '', to] = frame.split('{any}')
  const start = whole.indexOf(from)
  // a retrieved text may contain the words that end it, too
  const last = to === undefined ? whole.length : whole.lastIndexOf(to)
  if (start < 0 || last < start + from.length) return []
  const end = last + (to?.length ?? 0)
  return (whole.slice(0, start) + whole.slice(end)).trim() === '' ? [] : [{ text, start, end }]
}

function isSystem({ role, isTextOnly }: PromptMessage): boolean {
  return (role === 'system' || role === 'developer') && isTextOnly
}

function isQuestion({ role, texts, isRendered = false }: PromptMessage): boolean {
  return role === 'user' && texts.length > 0 && !isRendered
}
