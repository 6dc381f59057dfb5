import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { spliceTexts } from '../prompt/body/splice-texts.ts'
import type { TextSplice } from '../prompt/body/text-splice.ts'
import type { PromptBody } from '../prompt/prompt-body.ts'
import { readPromptBody, writeBody } from '../prompt/prompt-body.ts'

/** Stands between documents where an application puts it, and never in a text: invisible signs around a word. */
export const defaultSeparator = '\u2063reprise\u2063'

/** Where separators stood in a text that is sent without them. */
export interface SeparatedText {
  readonly text: string
  /** ascending */
  readonly places: readonly number[]
}

/** A body without separators, and where they stood, by place among its texts. */
export interface SeparatedBody {
  readonly prompt: PromptBody
  readonly separated: ReadonlyMap<number, SeparatedText>
}

/**
 * Takes every separator out of the texts of a body, in whatever way its JSON escapes them; undefined where there is none.
 * Nothing else is changed, to the byte.
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

/** The same in JSON that is a text as it stands, where each sign may be escaped; a backslash that is text escapes none. */
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
