import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { type PromptBody, writeBody } from '../prompt/body/prompt-body.ts'
import { spliceTexts } from '../prompt/body/splice-texts.ts'
import type { TextSplice } from '../prompt/body/text-splice.ts'
import { readPromptBody } from '../prompt/formats/read-prompt-body.ts'

/** What to look for in a body. */
export interface Separators {
  /** '': nothing */
  readonly separator: string
  /** taking out more would hold up other requests */
  readonly most: number
}

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
 * Removes every separator from the texts of a body, however its JSON escapes them. Nothing else changes, to the byte.
 * Returns undefined if there are none, and 'too_many' if there are more than `most`.
 */
export function takeOutSeparators(
  api: PromptApi,
  prompt: PromptBody,
  { separator, most }: Separators,
): SeparatedBody | 'too_many' | undefined {
  const texts = prompt.set?.texts ?? []
  if (separator === '') return undefined
  let left = most
  const splices: TextSplice[][] = []
  for (const { text, isRaw } of texts) {
    const own = isRaw ? placesInJson(text, separator, left) : placesOf(text, separator, left)
    left -= own.length
    if (left < 0) return 'too_many'
    splices.push(own)
  }
  if (left === most) return undefined
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

/** Returns where a text has the separator: the first `most` places, and one more if there are more. */
function placesOf(text: string, separator: string, most: number): TextSplice[] {
  const places: TextSplice[] = []
  let at = text.indexOf(separator)
  for (; at >= 0 && places.length <= most; at = text.indexOf(separator, at + separator.length)) {
    places.push({ start: at, end: at + separator.length, pieces: [] })
  }
  return places
}

/**
 * Does the same in a text that is raw JSON, where each character may be escaped; an escaped backslash escapes nothing.
 */
function placesInJson(json: string, separator: string, most: number): TextSplice[] {
  const escaped = [...separator].map((sign) => {
    const units = Array.from({ length: sign.length }, (_, i) => sign.charCodeAt(i).toString(16).padStart(4, '0'))
    const plain = sign.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
    return `(?:${plain}|${units.map((unit) => `\\\\u${unit.replace(/[a-f]/g, (x) => `[${x}${x.toUpperCase()}]`)}`).join('')})`
  })
  const pattern = new RegExp(`(?<=(?<!\\\\)(?:\\\\\\\\)*)${escaped.join('')}`, 'g')
  const places: TextSplice[] = []
  for (const { index, 0: found } of json.matchAll(pattern)) {
    places.push({ start: index, end: index + found.length, pieces: [] })
    if (places.length > most) break
  }
  return places
}
