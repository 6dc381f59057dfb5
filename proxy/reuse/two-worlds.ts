import type { SentPrompt } from '#index/cache-event.ts'
import type { SentTurn, TurnKey } from '#index/conversation-store.ts'
import type { PromptContext } from '../prompt/body/prompt-context.ts'
import type { BodySplice } from '../prompt/body/splice-body.ts'
import type { TextSplice } from '../prompt/body/text-splice.ts'
import { type PromptPart, PromptParts } from './prompt-parts.ts'

/**
 * A request in two worlds, one of which is sent: as it was received, and as it is rewritten. `release` releases its
 * texts, since answers take long.
 */
export class TwoWorlds {
  readonly isShadow: boolean
  /** the two worlds are the same */
  readonly areEqual: boolean
  /** in shadow mode: its prompts as they would be sent */
  readonly planned: readonly SentPrompt[]
  /** in shadow mode: how its turns would be sent */
  readonly turns: ReadonlyMap<TurnKey, SentTurn>
  #texts: readonly string[]
  #splices: readonly (readonly TextSplice[])[]
  #contexts: readonly PromptContext[]
  #parts: PromptParts | undefined
  /** by prompt: indices of its texts */
  #prompts: readonly (readonly number[])[]
  #writeOther: () => readonly BodySplice[] | undefined

  /**
   * `contexts` were found in the texts as received. `splices` turn the texts as received into the rewritten ones. `other` returns what turns the body that was read
   * into the one that is not sent; undefined: that one is the body received. `areEqual`: nothing is rewritten.
   */
  constructor(
    isShadow: boolean,
    parts: {
      readonly texts: readonly string[]
      readonly contexts: readonly PromptContext[]
      readonly prompts: readonly (readonly number[])[]
      readonly splices: readonly (readonly TextSplice[])[]
      readonly planned: readonly SentPrompt[]
      readonly turns: ReadonlyMap<TurnKey, SentTurn>
      readonly areEqual: boolean
      other(): readonly BodySplice[] | undefined
    },
  ) {
    this.isShadow = isShadow
    this.planned = parts.planned
    this.turns = parts.turns
    this.#texts = parts.texts
    this.#contexts = parts.contexts
    this.#prompts = parts.prompts
    this.#splices = parts.splices
    this.areEqual = parts.areEqual
    this.#writeOther = parts.other
  }

  /** By prompt: indices of its texts. */
  get prompts(): readonly (readonly number[])[] {
    return this.#prompts
  }

  /** All texts as received. */
  get texts(): readonly string[] {
    return this.#texts
  }

  /**
   * Returns what turns the body that was read into the one that is not sent; undefined: that one is the body received.
   */
  otherSplices(): readonly BodySplice[] | undefined {
    return this.#writeOther()
  }

  /** Returns all texts as received, in parts. */
  receivedParts(): PromptPart[] {
    const parts = this.#cut()
    return this.#texts.flatMap((_, place) => parts.received(place))
  }

  /** Returns the parts of each prompt as it is sent, and as it would be sent in the other world. */
  compare(): readonly { readonly sent: readonly PromptPart[]; readonly other: readonly PromptPart[] }[] {
    const parts = this.#cut()
    return this.#prompts.map((places) => {
      const received = places.flatMap((place) => parts.received(place))
      const rewritten = this.areEqual
        ? received
        : places.flatMap((place) => parts.rewritten(place, this.#splices[place]!))
      return this.isShadow ? { sent: received, other: rewritten } : { sent: rewritten, other: received }
    })
  }

  release(): void {
    this.#texts = []
    this.#contexts = []
    this.#parts = undefined
    this.#splices = []
    this.#prompts = []
    this.#writeOther = () => undefined
  }

  #cut(): PromptParts {
    this.#parts ??= new PromptParts(this.#texts, this.#contexts)
    return this.#parts
  }
}
