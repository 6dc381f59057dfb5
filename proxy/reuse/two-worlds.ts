import type { SentPrompt } from '#index/cache-event.ts'
import type { SentTurn, TurnKey } from '#index/conversation-store.ts'
import type { BodySplice } from '../prompt/body/splice-body.ts'
import { spliceToSlices, type TextSplice } from '../prompt/body/text-splice.ts'

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
  /** by prompt: indices of its texts */
  #prompts: readonly (readonly number[])[]
  #writeOther: () => readonly BodySplice[] | undefined

  /**
   * `splices` turn the texts as received into the rewritten ones. `other` returns what turns the body that was read
   * into the one that is not sent; undefined: that one is the body received. `areEqual`: nothing is rewritten.
   */
  constructor(
    isShadow: boolean,
    parts: {
      readonly texts: readonly string[]
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

  /** Returns the texts of each prompt as they are sent, in slices. */
  sent(): string[][] {
    return this.isShadow ? this.#received() : this.#rewritten()
  }

  /** Returns the texts of each prompt in the world that is not sent, in slices. */
  other(): string[][] {
    return this.isShadow ? this.#rewritten() : this.#received()
  }

  release(): void {
    this.#texts = []
    this.#splices = []
    this.#prompts = []
    this.#writeOther = () => undefined
  }

  #received(): string[][] {
    return this.#prompts.map((places) => places.map((place) => this.#texts[place]!))
  }

  #rewritten(): string[][] {
    return this.#prompts.map((places) =>
      places.flatMap((place) => spliceToSlices(this.#texts, place, this.#splices[place]!)),
    )
  }
}
