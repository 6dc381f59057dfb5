import { toArray, toObject } from '../../common/json/json-value.ts'
import {
  type AnswerApi,
  type AnswerText,
  indexOf,
  itemTexts,
  outputTexts,
  partText,
  spokenMembers,
  textAt,
} from '../find-answer-texts.ts'

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
  /** The texts that end with this event; the beginnings of their names. */
  readonly ended: readonly string[] | 'all'
}

type JsonObject = Readonly<Record<string, unknown>>

const nothing: EventTexts = { texts: [], ended: [] }

const readers: Record<AnswerApi, (event: JsonObject) => EventTexts> = {
  chat_completions: (event) => readChoices(event, 'delta', spokenMembers),
  completions: (event) => readChoices(event, undefined, ['text']),
  responses: readResponsesEvent,
  messages: readMessagesEvent,
  generate: (event) => {
    const choice = indexOf(event, 0)
    const texts = textAt(['text'], event.text, choice).map((text) => ({
      of: `${choice}/`,
      isCumulative: true,
      ...text,
    }))
    return { texts, ended: isSet(toObject(event.meta_info).finish_reason) ? [`${choice}/`] : [] }
  },
}

/** Finds the texts in an event of a stream, and which texts of the answer it ends. */
export function findEventTexts(api: AnswerApi, event: unknown): EventTexts {
  return readers[api](toObject(event))
}

/** Reads the members of each choice that have text, in `within` if they are there. */
function readChoices(event: JsonObject, within: string | undefined, members: readonly string[]): EventTexts {
  const read = toArray(event.choices).map((choice, i) => {
    const path = within === undefined ? ['choices', i] : ['choices', i, within]
    return readChoice(toObject(choice), indexOf(choice, i), path, members)
  })
  return { texts: read.flatMap(({ texts }) => texts), ended: read.flatMap(({ ended }) => ended) }
}

function readChoice(
  choice: JsonObject,
  index: number,
  path: readonly (string | number)[],
  members: readonly string[],
): { texts: EventText[]; ended: string[] } {
  const own = path.length === 2 ? choice : toObject(choice[path[2]!])
  const spoken = members.filter((name) => isSet(own[name]) && own[name] !== '')
  const texts = spoken.flatMap((name) =>
    textAt([...path, name], own[name], index).map((text) => ({ of: `${index}/${name}`, ...text })),
  )
  const { tool_calls: calls, function_call: call } = own
  if (isSet(choice.finish_reason) || toArray(calls).length > 0 || isSet(call)) return { texts, ended: [`${index}/`] }
  // the answer begins where its reasoning ends
  const silent = spoken.length === 1 ? members.filter((name) => name !== spoken[0]) : []
  return { texts, ended: silent.map((name) => `${index}/${name}`) }
}

const delta = /^response\.(?:output_text|reasoning_text|reasoning_summary_text)\.delta$/
const textDone = /^response\.(?:output_text|reasoning_text|reasoning_summary_text)\.done$/
const partDone = /^response\.(?:content_part|reasoning_part|reasoning_summary_part)\.done$/

function readResponsesEvent(event: JsonObject): EventTexts {
  const output = `${event.output_index ?? 0}/`
  const of = `${output}${event.content_index ?? `s${event.summary_index ?? 0}`}/`
  const type = String(event.type)
  if (delta.test(type)) return { texts: textAt(['delta'], event.delta).map((text) => ({ of, ...text })), ended: [] }
  if (textDone.test(type)) return { texts: wholes(textAt(['text'], event.text)), ended: [of] }
  if (partDone.test(type)) return { texts: wholes(partText(event.part, ['part'])), ended: [of] }
  switch (type) {
    case 'response.output_item.done':
      return { texts: wholes(itemTexts(event.item, ['item'])), ended: [output] }
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
      return { texts: wholes(outputTexts(toObject(event.response).output, ['response', 'output'])), ended: 'all' }
    default:
      return nothing
  }
}

function readMessagesEvent(event: JsonObject): EventTexts {
  const of = `${event.index ?? 0}/`
  switch (event.type) {
    case 'content_block_start':
      return { texts: partText(event.content_block, ['content_block']).map((text) => ({ of, ...text })), ended: [] }
    case 'content_block_delta': {
      const { text, thinking } = toObject(event.delta)
      const member = typeof text === 'string' ? 'text' : 'thinking'
      return { texts: textAt(['delta', member], text ?? thinking).map((own) => ({ of, ...own })), ended: [] }
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
