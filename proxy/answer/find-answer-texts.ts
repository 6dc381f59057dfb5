import { isObject, type Json } from '#engine-adapters/json-object.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { type JsonPath, toArray, toObject } from '../common/json/json-value.ts'

/** A text in an answer, or in an event of one that is streamed. */
export interface AnswerText {
  readonly path: JsonPath
  readonly text: string
  /** the number of the choice it is part of, from 0 */
  readonly choice: number
  /** the text of the answer that an event has a piece of; undefined if it is a whole one */
  readonly of?: string
  /** it repeats all pieces that came before */
  readonly isCumulative?: boolean
}

interface AnswerTexts {
  readonly texts: readonly AnswerText[]
  /** the texts that end with this event; the beginnings of their names */
  readonly ended: readonly string[] | 'all'
}

/** Members of a choice's message, or of what a stream adds to it. Reasoning has different names. */
const spokenMembers = ['content', 'reasoning_content', 'reasoning']

/** The member that has the text of a content part or block, by type. */
const partMembers: Readonly<Record<string, string>> = {
  text: 'text',
  output_text: 'text',
  reasoning_text: 'text',
  summary_text: 'text',
  thinking: 'thinking',
}

const readers: Record<PromptApi, (answer: unknown) => AnswerTexts> = {
  chat_completions: (answer) =>
    readChoices(answer, (choice, index, path) => {
      const { message, delta } = choice
      if (!isObject(message)) return readPieces(choice, toObject(delta), index, [...path, 'delta'], spokenMembers)
      const own = spokenMembers.flatMap((name) => {
        const [content, at] = [message[name], [...path, 'message', name]]
        return Array.isArray(content) ? partTexts(content, at, index) : textAt(at, content, index)
      })
      return { texts: own, ended: [] }
    }),
  completions: (answer) =>
    readChoices(answer, (choice, index, path) => readPieces(choice, choice, index, path, ['text'])),
  responses: (answer) => readResponse(toObject(answer)),
  messages: (answer) => readMessage(toObject(answer)),
  generate: (answer) => {
    if (Array.isArray(answer))
      return wholes(answer.flatMap((result, i) => textAt([i, 'text'], toObject(result).text, i)))
    const { text, meta_info: meta } = toObject(answer)
    const choice = indexOf(answer, 0)
    const texts = textAt(['text'], text, choice).map((own) => ({ ...own, of: `${choice}/`, isCumulative: true }))
    return { texts, ended: isSet(toObject(meta).finish_reason) ? [`${choice}/`] : [] }
  },
}

/**
 * Finds the texts of an answer, or of an event of one that is streamed, and which texts that event ends. Reasoning
 * counts; refusals and tool calls do not.
 */
export function findAnswerTexts(api: PromptApi, answer: unknown): AnswerTexts {
  return readers[api](answer)
}

function readChoices(
  answer: unknown,
  read: (choice: Readonly<Json>, index: number, path: JsonPath) => AnswerTexts,
): AnswerTexts {
  const choices = toArray(toObject(answer).choices).map((choice, i) =>
    read(toObject(choice), indexOf(choice, i), ['choices', i]),
  )
  return { texts: choices.flatMap(({ texts }) => texts), ended: choices.flatMap(({ ended }) => ended) }
}

/** Reads the members of a choice, or of what an event adds to it, that have text. */
function readPieces(
  choice: Readonly<Json>,
  own: Readonly<Json>,
  index: number,
  path: JsonPath,
  members: readonly string[],
): AnswerTexts {
  const spoken = members.filter((name) => isSet(own[name]) && own[name] !== '')
  const texts = spoken.flatMap((name) => pieces(`${index}/${name}/`, textAt([...path, name], own[name], index)))
  const { tool_calls: calls, function_call: call } = own
  if (isSet(choice.finish_reason) || toArray(calls).length > 0 || isSet(call)) return { texts, ended: [`${index}/`] }
  // the answer begins where its reasoning ends
  const silent = spoken.length === 1 ? members.filter((name) => name !== spoken[0]) : []
  return { texts, ended: silent.map((name) => `${index}/${name}/`) }
}

const typeOfPart =
  /^response\.(?:output_text|reasoning_text|reasoning_summary_text|(content|reasoning|reasoning_summary)_part)\.(delta|done)$/

/** Reads a response, or an event of one. */
function readResponse(answer: Readonly<Json>): AnswerTexts {
  const output = `${answer.output_index ?? 0}/`
  const of = `${output}${answer.content_index ?? `s${answer.summary_index ?? 0}`}/`
  const type = String(answer.type)
  const [, part, state] = typeOfPart.exec(type) ?? []
  if (state === 'delta') return { texts: pieces(of, textAt(['delta'], answer.delta)), ended: [] }
  if (part) return wholes(partText(answer.part, ['part']), [of])
  if (state) return wholes(textAt(['text'], answer.text), [of])
  if (type === 'response.output_item.done') return wholes(itemTexts(answer.item, ['item']), [output])
  if (/^response\.(?:completed|incomplete|failed)$/.test(type))
    return wholes(outputTexts(toObject(answer.response).output, ['response', 'output']), 'all')
  return wholes(outputTexts(answer.output, ['output']))
}

/** Reads a message, or an event of one. */
function readMessage(answer: Readonly<Json>): AnswerTexts {
  const of = `${answer.index ?? 0}/`
  switch (answer.type) {
    case 'content_block_start':
      return { texts: pieces(of, partText(answer.content_block, ['content_block'])), ended: [] }
    case 'content_block_delta': {
      const { text, thinking } = toObject(answer.delta)
      const member = typeof text === 'string' ? 'text' : 'thinking'
      return { texts: pieces(of, textAt(['delta', member], text ?? thinking)), ended: [] }
    }
    case 'content_block_stop':
      return { texts: [], ended: [of] }
    case 'message_delta':
    case 'message_stop':
      return { texts: [], ended: 'all' }
    default:
      return wholes(partTexts(answer.content, ['content']))
  }
}

function wholes(texts: readonly AnswerText[], ended: AnswerTexts['ended'] = []): AnswerTexts {
  return { texts, ended }
}

function pieces(of: string, texts: readonly AnswerText[]): AnswerText[] {
  return texts.map((text) => ({ of, ...text }))
}

/** Returns the number of a choice: its own, or else its place. */
function indexOf(choice: unknown, place: number): number {
  const { index } = toObject(choice)
  return typeof index === 'number' ? index : place
}

/** Returns the value as a text if it is a string; otherwise nothing. */
function textAt(path: JsonPath, value: unknown, choice = 0): AnswerText[] {
  return typeof value === 'string' ? [{ path, text: value, choice }] : []
}

/** Returns the text of a content part, if its type has one. */
function partText(part: unknown, path: JsonPath, choice = 0): AnswerText[] {
  const member = partMembers[String(toObject(part).type)]
  return member === undefined ? [] : textAt([...path, member], toObject(part)[member], choice)
}

function partTexts(parts: unknown, path: JsonPath, choice = 0): AnswerText[] {
  return toArray(parts).flatMap((part, i) => partText(part, [...path, i], choice))
}

function outputTexts(items: unknown, path: JsonPath): AnswerText[] {
  return toArray(items).flatMap((item, i) => itemTexts(item, [...path, i]))
}

/** Returns the texts of an output item: of a message, or of reasoning and its summary. */
function itemTexts(item: unknown, path: JsonPath): AnswerText[] {
  return ['content', 'summary'].flatMap((name) => partTexts(toObject(item)[name], [...path, name]))
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null
}
