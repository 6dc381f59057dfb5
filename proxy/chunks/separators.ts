import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { spliceTexts } from '../prompt/body/splice-texts.ts'
import type { TextSplice } from '../prompt/body/text-splice.ts'
import type { PromptBody } from '../prompt/prompt-body.ts'
import { readPromptBody, writeBody } from '../prompt/prompt-body.ts'

/** Put between documents by an application, and never part of a text: invisible characters around a word. */
export const defaultSeparator = '\u2063reprise\u2063'

/** A text that is sent without its separators, and where these were. */
export interface SeparatedText {
  readonly text: string
  /** ascending */
  readonly places: readonly number[]
}

/** A body without separators, and where these were, by index of the text. */
export interface SeparatedBody {
  readonly prompt: PromptBody
  readonly separated: ReadonlyMap<number, SeparatedText>
}

/**
 * Removes every separator from the texts of a body, however its JSON escapes them; undefined if there are none. Nothing
 * else changes, to the byte.
 */
export function takeOutSeparators(api: PromptApi, prompt: PromptBody, separator: string): SeparatedBody | undefined {
  const texts = prompt.set?.texts ?? []
  if (separator === '') return undefined
  const splices = texts.map(({ text, isRaw }): TextSplice[] =>
    isRaw ? placesInJson(text, separator) : placesOf(text, separator),
  )
  if (splices.every(({ length }) => length === 0)) return undefined
  const bytes = writeBody(prompt, spliceTexts(prompt, { texts: texts.map(({ text }) => text), splices }))
  const clean = readPromptBody(api, bytes)
  if (!clean?.set) return undefined
  const separated = new Map<number, SeparatedText>()
  for (const [at, own] of splices.entries()) {
    if (own.length === 0) continue
    const places = own.map(({ start }, i) => start - i * separator.length)
    separated.set(at, { text: clean.set.texts[at]!.text, places })
  }
  return { prompt: clean, separated }
}

function placesOf(text: string, separator: string): TextSplice[] {
  const places: TextSplice[] = []
  for (let at = text.indexOf(separator); at >= 0; at = text.indexOf(separator, at + separator.length)) {
    places.push({ start: at, end: at + separator.length, pieces: [] })
  }
  return places
}

/**
 * Does the same in a text that is raw JSON, where each character may be escaped; an escaped backslash escapes nothing.
 */
function placesInJson(json: string, separator: string): TextSplice[] {
  const escaped = [...separator].map((sign) => {
    const units = Array.from({ length: sign.length }, (_, i) => sign.charCodeAt(i).toString(16).padStart(4, '0'))
    const plain = sign.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
    return `(?:${plain}|${units.map((unit) => `\\\\u${unit.replace(/[a-f]/g, (x) => `[${x}${x.toUpperCase()}]`)}`).join('')})`
  })
  const pattern = new RegExp(`(?<=(?<!\\\\)(?:\\\\\\\\)*)${escaped.join('')}`, 'g')
  return [...json.matchAll(pattern)].map(({ index, 0: { length } }) => ({
    start: index,
    end: index + length,
    pieces: [],
  }))
}
