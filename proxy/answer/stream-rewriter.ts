import { tryJson } from '#engine-adapters/json-object.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { getOrMake } from '#index/get-or-make.ts'
import { CitationMapper } from './citations/map-citations.ts'
import { EventSplitter, type StreamPart } from './events/event-splitter.ts'
import { HeldEvent } from './events/held-event.ts'
import { findAnswerTexts } from './find-answer-texts.ts'
import { FollowedText } from './followed-text.ts'
import type { PromptLabels } from './prompt-labels.ts'

const defaultLongestEvent = 1024 * 1024
/** a citation split over more events than this is decided as it is */
const mostHeldEvents = 256

/**
 * Maps the citations in an event stream. An event is sent on as soon as its labels are decided, usually when the next
 * event arrives; no event is added, left out or reordered.
 */
export class StreamRewriter {
  readonly #api: PromptApi
  readonly #labels: PromptLabels
  readonly #longestEvent: number
  readonly #splitter: EventSplitter
  readonly #texts = new Map<string, FollowedText>()
  #held: HeldEvent[] = []
  #heldBytes = 0
  /** in texts that have ended */
  #remapped = 0
  overflowed = false
  fault: unknown

  constructor(api: PromptApi, labels: PromptLabels, longestEvent: number = defaultLongestEvent) {
    this.#api = api
    this.#labels = labels
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
      this.#hold(part.bytes)
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

  #hold(bytes: Buffer): void {
    this.#held.push(new HeldEvent(bytes))
    this.#heldBytes += bytes.length
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
      const labels = this.#labels.of(text.choice)
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
