import { isObject, type Json } from '#engine-adapters/json-object.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { ProxyError } from '../../common/errors.ts'
import { type FindSpan, spanFinder } from '../../common/json/json-spans.ts'
import { parseJson } from '../../common/json/json-value.ts'
import { readExplicitContext } from '../body/explicit-context.ts'
import type { PromptBody } from '../body/prompt-body.ts'
import { isParts, PromptBuilder, type PromptFormat } from '../body/prompt-builder.ts'
import { readDemands } from '../demands/demands.ts'
import { readChat } from './chat.ts'
import { readCompletions, readGenerate } from './completions.ts'
import { readMessages } from './messages.ts'
import { readResponses } from './responses.ts'

const formats: Record<PromptApi, PromptFormat> = {
  chat_completions: readChat,
  completions: readCompletions,
  responses: readResponses,
  messages: readMessages,
  generate: readGenerate,
}

/**
 * Reads a UTF-8 request body. Returns undefined if it is JSON but not an object. Throws `invalid_body` if it is not
 * JSON, or if its `reprise` field violates the schema or comes without a readable prompt.
 */
export function readPromptBody(api: PromptApi, bytes: Buffer): PromptBody | undefined {
  const json = bytes.toString()
  const members = parseJson(json)
  if (!isObject(members)) return undefined
  const findSpan = spanFinder(json)
  const explicit = readExplicitContext(members.reprise)
  const read = readSet(api, json, members, findSpan)
  if (explicit && !read.set)
    throw new ProxyError('invalid_body', "'reprise' needs a prompt of texts or messages: send them with it.")
  return {
    bytes,
    json,
    findSpan,
    members,
    demands: readDemands(api, members),
    explicit,
    set: read.set,
    fault: read.fault,
  }
}

function readSet(
  api: PromptApi,
  json: string,
  members: Json,
  findSpan: FindSpan,
): Partial<Pick<PromptBody, 'set' | 'fault'>> {
  try {
    const builder = new PromptBuilder()
    if (!formats[api](members, builder)) return {}
    const texts = builder.texts.map((text) => {
      if (!text.isRaw) return text
      // until here only its path was known
      const { start, end } = findSpan(text.path)
      return { ...text, text: json.slice(start, end) }
    })
    return { set: { prompts: builder.prompts, texts } }
  } catch (fault) {
    // values nested so deeply that JSON.parse reads them but JSON.stringify cannot write them
    return { fault }
  }
}

/** Guesses from its shape which API a body is written for. */
export function guessApi(body: unknown): PromptApi {
  if (!isObject(body)) return 'chat_completions'
  if ('input' in body) return 'responses'
  if ('prompt' in body) return 'completions'
  if ('text' in body || 'input_ids' in body) return 'generate'
  const parts = (isParts(body.messages) ? body.messages : []).flatMap(({ content }) =>
    isParts(content) ? content : [],
  )
  const isAnthropic = 'system' in body || parts.some(({ type }) => type === 'tool_result' || type === 'tool_use')
  return isAnthropic ? 'messages' : 'chat_completions'
}
