import { createHash, randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { EngineRequest } from '../engine-core.ts'
import { type Reader, type ReaderModel, type ReadToken, readerModels } from '../reader/reader.ts'
import { type ChatPrompt, renderChat } from '../text/chat-template.ts'
import { PromptTokens, type Tokenizer } from '../text/tokenizer.ts'
import { type Body, isBatch, type Prompts } from './bodies.ts'
import { badRequest, EngineError, type EngineKind } from './engine-error.ts'

/** Chosen so that nobody mistakes it for a model. */
export const modelName = 'reprise-emulator'
/** Tokens of an answer if its request sets no limit. */
export const defaultOutputTokens = 24
const longestReportedId = 256

/** A request to the engine, and why its answer ends where it does. */
export interface ServedRequest extends EngineRequest {
  readonly reason: 'length' | 'stop'
}

/** Turns a request's body into engine requests. Throws the engine's 400 if a prompt is empty or too long. */
export class PromptReader {
  readonly kind: EngineKind
  /** Maximum tokens of a prompt and its output together. */
  readonly modelTokens: number
  /** the models that it serves; any name is answered by the first, unless one was given */
  readonly models: readonly string[]
  readonly #isStrict: boolean
  readonly #tokenizer: Tokenizer
  readonly #reader: Reader | undefined

  /** With a `reader`, its models read the prompts and answer them; else `model` does, and no other name is answered. */
  constructor(kind: EngineKind, modelTokens: number, tokenizer: Tokenizer, reader?: Reader, model?: string) {
    this.kind = kind
    this.modelTokens = modelTokens
    this.models = reader ? readerModels : [model ?? modelName]
    this.#isStrict = model !== undefined
    this.#tokenizer = tokenizer
    this.#reader = reader
  }

  /** The model that answers a request. Throws the engine's 404 for another than the one that was given. */
  model({ model }: Body): string {
    const known = this.models.find((name) => name === model)
    if (known === undefined && this.#isStrict && typeof model === 'string') {
      throw new EngineError(404, 'NotFoundError', `The model \`${model}\` does not exist.`, 'model')
    }
    return known ?? this.models[0]!
  }

  /** How likely each token of a prompt was; undefined if nobody reads it. */
  score(body: Body, prompt: Uint32Array): ReadToken[] | undefined {
    return this.#reader?.score(this.model(body) as ReaderModel, prompt)
  }

  /** The likeliest first tokens of an answer; undefined if nobody reads the prompt. */
  alternatives(body: Body, prompt: Uint32Array, count: number): ReadToken[] | undefined {
    return this.#reader?.alternatives(this.model(body) as ReaderModel, prompt, count)
  }

  /** The tokens and their texts, as `/tokenize` gives them. */
  texts(tokens: readonly number[]): string[] {
    return this.#tokenizer.decodeEach(tokens)
  }

  /** The tokens of a chat, which must leave room for an answer. */
  chat(chat: ChatPrompt): Uint32Array {
    return this.#read((prompt) => renderChat(chat, this.#tokenizer, prompt))
  }

  /** The tokens of a text or of token ids. */
  plain(text: string | number[]): Uint32Array {
    return this.#read((prompt) =>
      typeof text === 'string' ? this.#tokenizer.encode(text, prompt) : prompt.append(text),
    )
  }

  /** The request's id: the one that the client set in the engine's way, or a new one. */
  requestId(headers: IncomingHttpHeaders, body: Body): string {
    const header = headers['x-request-id']
    const given = this.kind === 'vllm' ? (header ?? body.request_id) : body.rid
    return typeof given === 'string' && given !== '' ? given : randomUUID().replaceAll('-', '')
  }

  /**
   * Returns one engine request per prompt. In a list of prompts, vLLM's (as its reports are read) are called `ID`,
   * `ID-1` …, and SGLang's `ID_0`, `ID_1` …, even if there is only one.
   */
  requests(id: string, body: Body, prompts: Prompts, maximum: number | null | undefined): ServedRequest[] {
    const isList = isBatch(prompts)
    const list = (isList ? prompts : [prompts]) as Array<string | number[]>
    // if one prompt is refused, the whole list is refused
    const tokens = list.map((one) => this.plain(one))
    const suffix = (index: number): string => {
      if (this.kind === 'sglang') return isList ? `_${index}` : ''
      return index === 0 ? '' : `-${index}`
    }
    return tokens.map((prompt, index) => this.request(id, body, prompt, maximum, suffix(index)))
  }

  /** The engine request for one prompt. */
  request(id: string, body: Body, prompt: Uint32Array, maximum: number | null | undefined, suffix = ''): ServedRequest {
    const { cache_salt: salt, kv_transfer_params: wishes } = body
    const room = this.#outputTokens(prompt.length, maximum)
    const text = this.#reader?.continue(this.model(body) as ReaderModel, prompt)
    const outputTokens = text ? Math.min(text.length, room) : Math.min(room, maximum ?? defaultOutputTokens)
    const isCut = text ? outputTokens < text.length : Boolean(maximum)
    return {
      // no proxy sets an id this long, and it would only bloat the reports
      requestId: (id.length <= longestReportedId ? id : randomUUID()) + suffix,
      salt: salt ? createHash('sha256').update(salt).digest('base64') : '',
      prompt,
      outputTokens,
      text,
      reason: isCut ? 'length' : 'stop',
      wish: wishes?.reprise,
    }
  }

  #read(fill: (prompt: PromptTokens) => void): Uint32Array {
    const prompt = new PromptTokens(this.modelTokens)
    fill(prompt)
    if (prompt.length === 0) throw badRequest('The decoder prompt cannot be empty', 'prompt')
    if (prompt.length < this.modelTokens) return prompt.toArray()
    const length = `${prompt.overfull ? 'at least ' : ''}${prompt.length}`
    throw this.#tooLong(
      `However, your request has ${length} input tokens. Please reduce the length of the input messages.`,
      `The input (${length} tokens) is longer than the model's context length (${this.modelTokens} tokens).`,
      'input_tokens',
    )
  }

  #outputTokens(prompt: number, maximum: number | null | undefined): number {
    const room = this.modelTokens - prompt
    if (!maximum || maximum <= room) return maximum ?? room
    const total = prompt + maximum
    throw this.#tooLong(
      `However, you requested ${total} tokens (${prompt} in the messages, ${maximum} in the completion). Please reduce the length of the messages or completion.`,
      `Requested token count exceeds the model's maximum context length of ${this.modelTokens} tokens. You requested a total of ${total} tokens: ${prompt} of input and ${maximum} of completion.`,
      'max_tokens',
    )
  }

  #tooLong(vllm: string, sglang: string, param: string): Error {
    if (this.kind === 'sglang') return badRequest(sglang)
    return badRequest(`This model's maximum context length is ${this.modelTokens} tokens. ${vllm}`, param)
  }
}
