import { type JsonPath, toArray, toObject } from './json-value.ts'

/** The APIs whose answers can be read. */
export type AnswerApi = 'chat_completions' | 'completions' | 'responses' | 'messages' | 'generate'

/** A text in an answer. */
export interface AnswerText {
  readonly path: JsonPath
  readonly text: string
}

type BodyReader = (body: unknown) => AnswerText[]

const readers: Record<AnswerApi, BodyReader> = {
  chat_completions: (body) =>
    toArray(toObject(body).choices).flatMap((choice, i) =>
      textAt(['choices', i, 'message', 'content'], toObject(toObject(choice).message).content),
    ),
  completions: (body) =>
    toArray(toObject(body).choices).flatMap((choice, i) => textAt(['choices', i, 'text'], toObject(choice).text)),
  responses: (body) => outputTexts(toObject(body).output, ['output']),
  messages: (body) => partTexts(toObject(body).content, ['content'], 'text'),
  generate: (body) =>
    Array.isArray(body)
      ? body.flatMap((result, i) => textAt([i, 'text'], toObject(result).text))
      : textAt(['text'], toObject(body).text),
}

/** Finds the texts of an answer that is not streamed. Reasoning, refusals and tool calls do not count. */
export function findAnswerTexts(api: AnswerApi, body: unknown): AnswerText[] {
  return readers[api](body)
}

/** Returns the value as a text if it is a string; otherwise nothing. */
export function textAt(path: JsonPath, value: unknown): AnswerText[] {
  return typeof value === 'string' ? [{ path, text: value }] : []
}

/** Returns the texts of content parts of one type. */
export function partTexts(parts: unknown, path: JsonPath, type: string): AnswerText[] {
  return toArray(parts).flatMap((part, i) =>
    toObject(part).type === type ? textAt([...path, i, 'text'], toObject(part).text) : [],
  )
}

/** Returns the texts in the output items of the Responses API. */
export function outputTexts(items: unknown, path: JsonPath): AnswerText[] {
  return toArray(items).flatMap((item, i) => partTexts(toObject(item).content, [...path, i, 'content'], 'output_text'))
}
