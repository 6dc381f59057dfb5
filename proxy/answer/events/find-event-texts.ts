import { type AnswerApi, type AnswerText, outputTexts, partTexts, textAt } from '../find-answer-texts.ts'
import { toArray, toObject } from '../json-value.ts'

/** A text in an event. */
export interface EventText extends AnswerText {
  /** Which text of the answer it belongs to; undefined if it is a whole one, repeated. */
  readonly of: string | undefined
  /** It repeats everything that came before. */
  readonly isCumulative?: boolean
}

/** What an event contains of the answer's texts. */
interface EventTexts {
  readonly texts: readonly EventText[]
  /** The texts that end with this event. */
  readonly ended: readonly string[] | 'all'
}

type JsonObject = Readonly<Record<string, unknown>>

const nothing: EventTexts = { texts: [], ended: [] }

const readers: Record<AnswerApi, (event: JsonObject) => EventTexts> = {
  chat_completions: (event) => readChoices(event, (choice) => toObject(choice.delta).content, ['delta', 'content']),
  completions: (event) => readChoices(event, (choice) => choice.text, ['text']),
  responses: readResponsesEvent,
  messages: readMessagesEvent,
  generate: (event) => {
    const of = `${event.index ?? 0}`
    const texts = textAt(['text'], event.text).map((text) => ({ of, isCumulative: true, ...text }))
    return { texts, ended: isSet(toObject(event.meta_info).finish_reason) ? [of] : [] }
  },
}

/** Finds the texts in an event of a stream, and which texts of the answer it ends. */
export function findEventTexts(api: AnswerApi, event: unknown): EventTexts {
  return readers[api](toObject(event))
}

function readChoices(
  event: JsonObject,
  textOf: (choice: JsonObject) => unknown,
  pathOfText: readonly string[],
): EventTexts {
  const texts: EventText[] = []
  const ended: string[] = []
  for (const [i, value] of toArray(event.choices).entries()) {
    const choice = toObject(value)
    const of = `${choice.index ?? i}`
    const text = textOf(choice)
    if (typeof text === 'string') texts.push({ of, path: ['choices', i, ...pathOfText], text })
    const { tool_calls: calls, function_call: call } = toObject(choice.delta)
    if (isSet(choice.finish_reason) || toArray(calls).length > 0 || isSet(call)) ended.push(of)
  }
  return { texts, ended }
}

function readResponsesEvent(event: JsonObject): EventTexts {
  const output = `${event.output_index ?? 0}`
  const of = `${output}/${event.content_index ?? 0}`
  switch (event.type) {
    case 'response.output_text.delta':
      return { texts: textAt(['delta'], event.delta).map((text) => ({ of, ...text })), ended: [] }
    case 'response.output_text.done':
      return { texts: wholes(textAt(['text'], event.text)), ended: [of] }
    case 'response.content_part.done': {
      const part = toObject(event.part)
      return { texts: part.type === 'output_text' ? wholes(textAt(['part', 'text'], part.text)) : [], ended: [of] }
    }
    case 'response.output_item.done': {
      const { content } = toObject(event.item)
      const ended = toArray(content).map((_, i) => `${output}/${i}`)
      return { texts: wholes(partTexts(content, ['item', 'content'], 'output_text')), ended }
    }
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
      return { texts: wholes(outputTexts(toObject(event.response).output, ['response', 'output'])), ended: 'all' }
    default:
      return nothing
  }
}

function readMessagesEvent(event: JsonObject): EventTexts {
  const of = `${event.index ?? 0}`
  switch (event.type) {
    case 'content_block_delta': {
      const delta = toObject(event.delta)
      if (delta.type !== 'text_delta') return nothing
      return { texts: textAt(['delta', 'text'], delta.text).map((text) => ({ of, ...text })), ended: [] }
    }
    case 'content_block_stop':
      return { texts: [], ended: [of] }
    case 'message_delta':
    case 'message_stop':
      return { texts: [], ended: 'all' }
    default:
      return nothing
  }
}

function wholes(texts: readonly AnswerText[]): EventText[] {
  return texts.map((text) => ({ of: undefined, ...text }))
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null
}
