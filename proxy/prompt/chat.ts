import { ProxyError } from '../errors.ts'
import {
  applySplices,
  elementSpans,
  insertMember,
  memberSpans,
  removeMembers,
  type Span,
  type Splice,
  valueStart,
} from '../json-spans.ts'
import { parseJson } from '../parse-json.ts'
import { type ExplicitContext, readExplicitContext } from './explicit-context.ts'

/** One text of a chat: a message's content, or one text part of it. */
export interface ChatText {
  readonly message: number
  /** place in the content array; undefined when the content is a string */
  readonly part: number | undefined
  readonly text: string
}

/** A message as far as reuse is concerned. */
export interface ChatMessage {
  readonly role: string
  /** places of its texts in `Chat.texts` */
  readonly texts: readonly number[]
  /** everything but role and texts, as JSON: images, tool calls, names */
  readonly rest: string
  /** whether the content holds nothing but text */
  readonly isTextOnly: boolean
}

/** A chat completion request that was understood. */
export interface Chat {
  readonly body: string
  readonly messages: readonly ChatMessage[]
  readonly texts: readonly ChatText[]
  /** what a chat template puts in front of the messages */
  readonly preamble: string
  /** the body's `reprise` field */
  readonly explicit: ExplicitContext | undefined
}

/** A request body that is a JSON object. */
export interface ChatBody {
  readonly body: string
  /** members that an engine takes for its own ids and salts */
  readonly tags: { readonly rid: unknown; readonly cacheSalt: unknown }
  /** undefined when the object has another shape than expected: such a body is the engine's to judge */
  readonly chat: Chat | undefined
}

type Json = Record<string, unknown>

/**
 * Reads the body of a chat completion request; undefined when it is JSON but no object. Throws `invalid_body` when it
 * is no JSON, or its `reprise` field breaks the schema.
 */
export function readChatBody(body: string): ChatBody | undefined {
  const value = parseJson(body)
  if (!isObject(value)) return undefined
  return { body, tags: { rid: value.rid, cacheSalt: value.cache_salt }, chat: readChat(body, value) }
}

function readChat(body: string, value: Json): Chat | undefined {
  const explicit = readExplicitContext(value.reprise)
  const { messages } = value
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isMessage)) {
    if (explicit) throw new ProxyError('invalid_body', "'reprise' needs 'messages': send the chat's messages with it.")
    return undefined
  }
  const texts: ChatText[] = []
  const read = messages.map((message, i) => readMessage(message, i, texts))
  // all that decides what stands in front of the messages, or whose cache it is
  const { model, tools, documents, chat_template, chat_template_kwargs, cache_salt } = value
  const preamble = JSON.stringify([model, tools, documents, chat_template, chat_template_kwargs, cache_salt])
  return { body, messages: read, texts, preamble, explicit }
}

/** The body with other texts in place of the chat's (by place in `Chat.texts`) and without the `reprise` field. */
export function writeChat(chat: Chat, texts: readonly string[]): string {
  const { body } = chat
  const start = valueStart(body)
  const splices: Splice[] = chat.explicit ? removeMembers(body, start, 'reprise') : []
  if (chat.texts.some(({ text }, i) => text !== texts[i])) {
    const messages = elementSpans(body, memberSpans(body, start).get('messages')!.start)
    chat.messages.forEach((message, place) => {
      const changed = message.texts.filter((i) => chat.texts[i]!.text !== texts[i])
      if (changed.length === 0) return
      const spanOf = textSpans(body, messages[place]!.start)
      for (const i of changed) splices.push({ ...spanOf(chat.texts[i]!.part), text: JSON.stringify(texts[i]) })
    })
  }
  return splices.length > 0 ? applySplices(body, splices) : body
}

/** Where the texts of the message that begins at `start` stand, by their place in its content. */
function textSpans(body: string, start: number): (part: number | undefined) => Span {
  const content = memberSpans(body, start).get('content')!
  const parts = body[content.start] === '[' ? elementSpans(body, content.start) : []
  return (part) => (part === undefined ? content : memberSpans(body, parts[part]!.start).get('text')!)
}

/** The body with members set: in the place of the one it has, or in front of all others. */
export function setMembers(body: string, members: Readonly<Record<string, string>>): string {
  const start = valueStart(body)
  const present = memberSpans(body, start)
  const splices = Object.entries(members).map(([key, value]) => {
    const span = present.get(key)
    return span ? { ...span, text: JSON.stringify(value) } : insertMember(body, start, key, value)
  })
  return applySplices(body, splices)
}

function readMessage(message: Json, index: number, texts: ChatText[]): ChatMessage {
  const { role, content, ...rest } = message
  const found: number[] = []
  const add = (text: string, part: number | undefined): void => {
    found.push(texts.length)
    texts.push({ message: index, part, text })
  }
  const others: unknown[] = [rest]
  if (typeof content === 'string') add(content, undefined)
  else if (Array.isArray(content)) {
    for (const [part, value] of content.entries()) {
      if (value.type === 'text' && typeof value.text === 'string') add(value.text, part)
      else others.push([part, value])
    }
  }
  return {
    role: role as string,
    texts: found,
    rest: JSON.stringify(others),
    isTextOnly: others.length === 1,
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isMessage(value: unknown): value is Json {
  if (!isObject(value) || typeof value.role !== 'string') return false
  const { content } = value
  return content === undefined || content === null || typeof content === 'string' || isParts(content)
}

function isParts(content: unknown): boolean {
  return Array.isArray(content) && content.every(isObject)
}
