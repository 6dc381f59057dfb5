import { isUtf8 } from 'node:buffer'
import { tryJson } from '#engine-adapters/json-object.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { getOrMake } from '#index/get-or-make.ts'
import { GatheredBytes } from '../common/gathered-bytes.ts'
import { applySplices } from '../common/json/json-spans.ts'
import { toArray, toObject } from '../common/json/json-value.ts'
import { CitationLabels, type CitationMap } from './citations/citation-labels.ts'
import { CitationMapper } from './citations/map-citations.ts'
import { EventSplitter, type StreamPart } from './events/event-splitter.ts'
import { findAnswerTexts } from './find-answer-texts.ts'
import { FollowedText, HeldEvent, spliceString } from './followed-text.ts'

/** Rewrites an engine's answer on its way to the client. The buffers it returns, put together, are the answer. */
export type AnswerRewriter = Readonly<Pick<BodyRewriter, 'push' | 'end' | 'remapped' | 'overflowed' | 'fault'>>

/**
 * Creates a rewriter that translates an answer's citations into the caller's numbering; undefined if the content type is
 * not supported. The answer must not be encoded, and its length may change.
 */
export function createAnswerRewriter(
  api: PromptApi,
  contentType: string,
  labelsOf: LabelsOf,
): AnswerRewriter | undefined {
  const [type = '', ...parameters] = contentType.toLowerCase().split(';')
  if (parameters.some((parameter) => /^\s*charset=(?!"?utf-?8)/.test(parameter))) return undefined
  if (type.trim() === 'text/event-stream') return new StreamRewriter(api, labelsOf)
  if (/^application\/(?:[\w.-]+\+)?json$/.test(type.trim())) return new BodyRewriter(api, labelsOf)
  return undefined
}

const defaultLongestBody = 16 * 1024 * 1024

/** Maps the citations in an answer that is one JSON document, once it is complete. */
export class BodyRewriter {
  readonly #api: PromptApi
  readonly #labelsOf: LabelsOf
  readonly #longestBody: number
  readonly #gathered = new GatheredBytes()
  /** how many citations were changed */
  remapped = 0
  /** whether something was too large to be gathered and went through unchanged */
  overflowed = false
  /** an internal error, since which everything goes through unchanged */
  fault: unknown

  constructor(api: PromptApi, labelsOf: LabelsOf, longestBody: number = defaultLongestBody) {
    this.#api = api
    this.#labelsOf = labelsOf
    this.#longestBody = longestBody
  }

  /** Takes the next bytes; returns those to send now, possibly none. */
  push(chunk: Buffer): Buffer {
    if (this.overflowed) return chunk
    this.#gathered.add(chunk)
    if (this.#gathered.length <= this.#longestBody) return Buffer.alloc(0)
    this.overflowed = true
    return this.#gathered.take()
  }

  /** Returns the rest, once the engine's answer is over. */
  end(): Buffer {
    const body = this.#gathered.take()
    try {
      return this.#rewrite(body)
    } catch (fault) {
      this.fault = fault
      this.remapped = 0
      return body
    }
  }

  #rewrite(body: Buffer): Buffer {
    if (!isUtf8(body)) return body
    const json = body.toString()
    const splices = findAnswerTexts(this.#api, tryJson(json)).texts.flatMap(({ path, text, choice }) => {
      const labels = this.#labelsOf(choice)
      if (!labels) return []
      const { changes } = new CitationMapper(labels).advance(text, true)
      this.remapped += changes.length
      return changes.length > 0 ? spliceString(json, path, changes) : []
    })
    return splices.length > 0 ? Buffer.from(applySplices(json, splices)) : body
  }
}

const defaultLongestEvent = 1024 * 1024
/** a citation split over more events than this is decided as it is */
const mostHeldEvents = 256

/**
 * Maps the citations in an event stream. An event is sent on as soon as its labels are decided, usually when the next
 * event arrives; no event is added, left out or reordered.
 */
export class StreamRewriter {
  readonly #api: PromptApi
  readonly #labelsOf: LabelsOf
  readonly #longestEvent: number
  readonly #splitter: EventSplitter
  readonly #texts = new Map<string, FollowedText>()
  #held: HeldEvent[] = []
  #heldBytes = 0
  /** in texts that have ended */
  #remapped = 0
  overflowed = false
  fault: unknown

  constructor(api: PromptApi, labelsOf: LabelsOf, longestEvent: number = defaultLongestEvent) {
    this.#api = api
    this.#labelsOf = labelsOf
    this.#longestEvent = longestEvent
    this.#splitter = new EventSplitter(longestEvent)
  }

  get remapped(): number {
    let remapped = this.#remapped
    for (const text of this.#texts.values()) remapped += text.remapped
    return remapped
  }

  push(chunk: Buffer): Buffer {
    const sent: Buffer[] = []
    for (const part of this.#splitter.push(chunk)) {
      this.#held.push(new HeldEvent(part.bytes))
      this.#heldBytes += part.bytes.length
      this.#failOpen(() => this.#take(part), sent)
    }
    return join(sent)
  }

  end(): Buffer {
    const sent: Buffer[] = []
    this.#failOpen(() => this.#endTexts('all'), sent)
    sent.push(this.#splitter.end())
    return join(sent)
  }

  /** Reads the event that was held last. */
  #take({ kind }: StreamPart): void {
    if (kind === 'event') this.#read(this.#held.at(-1)!)
    if (kind === 'fragment') this.overflowed = true
    // a fragment always is too much
    const isTooMuch = this.#held.length > mostHeldEvents || this.#heldBytes > this.#longestEvent
    if (isTooMuch) for (const text of this.#texts.values()) text.decide()
  }

  #read(event: HeldEvent): void {
    event.read()
    if (event.data === undefined) return
    if (event.data === '[DONE]') {
      this.#endTexts('all')
      return
    }
    const { texts, ended } = findAnswerTexts(this.#api, tryJson(event.data))
    for (const text of texts) {
      const labels = this.#labelsOf(text.choice)
      if (!labels) continue
      if (text.of !== undefined) getOrMake(this.#texts, text.of, () => new FollowedText(labels)).add(event, text)
      else event.change(text.path, new CitationMapper(labels).advance(text.text, true).changes)
    }
    this.#endTexts(ended)
  }

  #endTexts(ended: readonly string[] | 'all'): void {
    for (const [of, text] of this.#texts) {
      if (ended !== 'all' && !ended.some((name) => of.startsWith(name))) continue
      text.decide()
      this.#remapped += text.remapped
      this.#texts.delete(of)
    }
  }

  /** Runs a step and sends what is then decided; after an internal error everything is sent as received. */
  #failOpen(step: () => void, sent: Buffer[]): void {
    try {
      if (this.fault === undefined) step()
      this.#sendDecided(sent)
    } catch (fault) {
      this.fault = fault
      for (const event of this.#held) sent.push(event.bytes)
      this.#held = []
    }
  }

  #sendDecided(sent: Buffer[]): void {
    while (this.#held.length > 0 && this.#held[0]!.undecided === 0) {
      const event = this.#held[0]!
      sent.push(event.toBytes())
      this.#heldBytes -= event.bytes.length
      this.#held.shift()
    }
  }
}

function join(buffers: readonly Buffer[]): Buffer {
  return buffers.length === 1 ? buffers[0]! : Buffer.concat(buffers)
}

/** Returns the labels that a choice cites; undefined if it is to stay. */
export type LabelsOf = (choice: number) => CitationLabels | undefined

/**
 * Returns the labels of the prompts of a request, by the choices that answer them: `choicesEach` of them each, one behind
 * the other. Undefined if no label would change.
 */
export function labelsOfChoices(maps: readonly CitationMap[], choicesEach: number): LabelsOf | undefined {
  const all = maps.map((map) => new CitationLabels(map)).map((labels) => (labels.isIdentity ? undefined : labels))
  if (all.every((labels) => labels === undefined)) return undefined
  return (choice) => all[all.length === 1 ? 0 : Math.floor(choice / choicesEach)]
}

/** Returns how many choices a request asks for each of its prompts. */
export function choicesEach({ n, sampling_params: sampling }: Readonly<Record<string, unknown>>): number {
  const asked = n ?? toObject(toArray(sampling)[0] ?? sampling).n
  return typeof asked === 'number' && Number.isInteger(asked) && asked > 0 ? asked : 1
}
