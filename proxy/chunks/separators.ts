import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import type { Span } from '../json/json-spans.ts'
import { type PromptBody, writeBody } from '../prompt/body/prompt-body.ts'
import { spliceTexts } from '../prompt/body/splice-texts.ts'
import { piecesLength, type TextSplice } from '../prompt/body/text-splice.ts'
import { readPromptBody } from '../prompt/formats/read-prompt-body.ts'

/** What to look for in a body. */
export interface Separators {
  /** '': nothing */
  readonly separator: string
  /** taking out more would hold up other requests */
  readonly most: number
}

/** A text that is sent without its separators, and where these were; a space that takes the place of one is behind it. */
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
 * Takes every separator out of the texts of a body, however its JSON escapes them, and puts a space in its place unless
 * white space or the end of the text is next to it: else a word that is parted by a separator would pass a filter in
 * front of us and reach the engine whole. Nothing else changes, to the byte.
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
    splices.push(withSpaces(text, own, isRaw ? jsonSpace : space))
  }
  if (left === most) return undefined
  const bytes = writeBody(prompt, spliceTexts(prompt, { texts: texts.map(({ text }) => text), splices }))
  const clean = readPromptBody(api, bytes)
  if (!clean?.set) return undefined
  const separated = new Map<number, SeparatedText>()
  for (const [at, own] of splices.entries()) {
    if (own.length === 0) continue
    separated.set(at, { text: clean.set.texts[at]!.text, places: placesBehind(own) })
  }
  return { prompt: clean, separated }
}

/** What white space, or the end of a text, looks like in front of a place and behind it. */
const space = { front: /(?:^|\s)$/, behind: /^(?:\s|$)/ }
/** The same in raw JSON, where a quote that is not escaped ends the text. */
const jsonSpace = { front: /(?:^|\s|(?<!\\)(?:\\\\)*(?:"|\\[nrt]))$/, behind: /^(?:\s|"|\\[nrt]|$)/ }
/** No pattern looks further back; backslashes may be many. */
const furthest = 64

/** Replaces each run of separators by one space where one is needed. */
function withSpaces(text: string, places: readonly Span[], { front, behind }: typeof space): TextSplice[] {
  return places.map(({ start, end }, i) => {
    if (places[i - 1]?.end === start) return { start, end, pieces: [] }
    let last = i
    while (places[last + 1]?.start === places[last]!.end) last += 1
    const after = places[last]!.end
    const isApart =
      front.test(text.slice(Math.max(0, start - furthest), start)) || behind.test(text.slice(after, after + 2))
    return { start, end, pieces: isApart ? [] : [' '] }
  })
}

/** Returns where the splices are in the text that they make. */
function placesBehind(splices: readonly TextSplice[]): number[] {
  let moved = 0
  return splices.map(({ start, end, pieces }) => {
    const place = start + moved
    moved += piecesLength(pieces) - (end - start)
    return place
  })
}

/** Returns where a text has the separator: the first `most` places, and one more if there are more. */
function placesOf(text: string, separator: string, most: number): Span[] {
  const places: Span[] = []
  let at = text.indexOf(separator)
  for (; at >= 0 && places.length <= most; at = text.indexOf(separator, at + separator.length)) {
    places.push({ start: at, end: at + separator.length })
  }
  return places
}

/**
 * Does the same in a text that is raw JSON, where each character may be escaped; an escaped backslash escapes nothing.
 */
function placesInJson(json: string, separator: string, most: number): Span[] {
  const escaped = [...separator].map((sign) => {
    const units = Array.from({ length: sign.length }, (_, i) => sign.charCodeAt(i).toString(16).padStart(4, '0'))
    const plain = sign.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
    return `(?:${plain}|${units.map((unit) => `\\\\u${unit.replace(/[a-f]/g, (x) => `[${x}${x.toUpperCase()}]`)}`).join('')})`
  })
  const pattern = new RegExp(`(?<=(?<!\\\\)(?:\\\\\\\\)*)${escaped.join('')}`, 'g')
  const places: Span[] = []
  for (const { index, 0: found } of json.matchAll(pattern)) {
    places.push({ start: index, end: index + found.length })
    if (places.length > most) break
  }
  return places
}
