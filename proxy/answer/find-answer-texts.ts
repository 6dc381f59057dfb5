import { type JsonPath, toArray, toObject } from '../common/json/json-value.ts'

/** The APIs whose answers can be read. */
export type AnswerApi = 'chat_completions' | 'completions' | 'responses' | 'messages' | 'generate'

/** A text in an answer. */
export interface AnswerText {
  readonly path: JsonPath
  readonly text: string
  /** the number of the choice it is part of, from 0 */
  readonly choice: number
}

type BodyReader = (body: unknown) => AnswerText[]

/** Members of a choice's message, or of what a stream adds to it. Reasoning has different names. */
export const spokenMembers = ['content', 'reasoning_content', 'reasoning'] as const

/** The member that has the text of a content part or block, by type. */
const partMembers: Readonly<Record<string, string>> = {
  text: 'text',
  output_text: 'text',
  reasoning_text: 'text',
  summary_text: 'text',
  thinking: 'thinking',
}

const readers: Record<AnswerApi, BodyReader> = {
  chat_completions: (body) =>
    toArray(toObject(body).choices).flatMap((choice, i) => {
      const message = toObject(toObject(choice).message)
      const path = ['choices', i, 'message']
      return spokenMembers.flatMap((name) => contentTexts(message[name], [...path, name], indexOf(choice, i)))
    }),
  completions: (body) =>
    toArray(toObject(body).choices).flatMap((choice, i) =>
      textAt(['choices', i, 'text'], toObject(choice).text, indexOf(choice, i)),
    ),
  responses: (body) => outputTexts(toObject(body).output, ['output']),
  messages: (body) => partTexts(toObject(body).content, ['content']),
  generate: (body) =>
    Array.isArray(body)
      ? body.flatMap((result, i) => textAt([i, 'text'], toObject(result).text, i))
      : textAt(['text'], toObject(body).text),
}

/** Finds the texts of an answer that is not streamed, reasoning included. Refusals and tool calls do not count. */
export function findAnswerTexts(api: AnswerApi, body: unknown): AnswerText[] {
  return readers[api](body)
}

/** Returns the number of a choice: its own, or else its place. */
export function indexOf(choice: unknown, place: number): number {
  const { index } = toObject(choice)
  return typeof index === 'number' ? index : place
}

/** Returns the value as a text if it is a string; otherwise nothing. */
export function textAt(path: JsonPath, value: unknown, choice = 0): AnswerText[] {
  return typeof value === 'string' ? [{ path, text: value, choice }] : []
}

/** Returns the text of a content part, if its type has one. */
export function partText(part: unknown, path: JsonPath, choice = 0): AnswerText[] {
  const member = partMembers[String(toObject(part).type)]
  return member === undefined ? [] : textAt([...path, member], toObject(part)[member], choice)
}

function partTexts(parts: unknown, path: JsonPath, choice = 0): AnswerText[] {
  return toArray(parts).flatMap((part, i) => partText(part, [...path, i], choice))
}

/** Returns the texts in the output items of the Responses API. */
export function outputTexts(items: unknown, path: JsonPath): AnswerText[] {
  return toArray(items).flatMap((item, i) => itemTexts(item, [...path, i]))
}

/** Returns the texts of an output item: of a message, or of reasoning and its summary. */
export function itemTexts(item: unknown, path: JsonPath): AnswerText[] {
  return (['content', 'summary'] as const).flatMap((name) => partTexts(toObject(item)[name], [...path, name]))
}

function contentTexts(content: unknown, path: JsonPath, choice: number): AnswerText[] {
  return Array.isArray(content) ? partTexts(content, path, choice) : textAt(path, content, choice)
}
