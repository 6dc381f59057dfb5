import type { SentPrompt } from '#index/cache-event.ts'
import type { SentTurn, TurnKey } from '#index/conversation-store.ts'
import type { PromptContext } from '../prompt/body/prompt-context.ts'
import type { BodySplice } from '../prompt/body/splice-body.ts'
import type { TextSplice } from '../prompt/body/text-splice.ts'
import { type PromptPart, PromptParts } from './prompt-parts.ts'

/** What the other world of a request is made of. It is kept until its prompts are compared. */
interface WorldParts {
  /** as received */
  readonly texts: readonly string[]
  /** found in the texts as received */
  readonly contexts: readonly PromptContext[]
  /** by prompt: indices of its texts */
  readonly prompts: readonly (readonly number[])[]
  /** turn the texts as received into the rewritten ones */
  readonly splices: readonly (readonly TextSplice[])[]
  /**
   * Returns what turns the body that was read into the one that is not sent; undefined: that one is the body received.
   */
  other(): readonly BodySplice[] | undefined
}

const released: WorldParts = { texts: [], contexts: [], prompts: [], splices: [], other: () => undefined }

/**
 * A request in two worlds, one of which is sent: as it was received, and as it is rewritten. `release` releases its
 * texts, since answers take long.
 */
export class TwoWorlds {
  readonly isShadow: boolean
  /** the two worlds are the same: nothing is rewritten */
  readonly areEqual: boolean
  /** in shadow mode: its prompts as they would be sent */
  readonly planned: readonly SentPrompt[]
  /** in shadow mode: how its turns would be sent */
  readonly turns: ReadonlyMap<TurnKey, SentTurn>
  #world: WorldParts
  #parts: PromptParts | undefined

  constructor(
    { isShadow, areEqual, planned, turns }: Pick<TwoWorlds, 'isShadow' | 'areEqual' | 'planned' | 'turns'>,
    world: WorldParts,
  ) {
    this.isShadow = isShadow
    this.areEqual = areEqual
    this.planned = planned
    this.turns = turns
    this.#world = world
  }

  /** By prompt: indices of its texts. */
  get prompts(): readonly (readonly number[])[] {
    return this.#world.prompts
  }

  /** All texts as received. */
  get texts(): readonly string[] {
    return this.#world.texts
  }

  /**
   * Returns what turns the body that was read into the one that is not sent; undefined: that one is the body received.
   */
  otherSplices(): readonly BodySplice[] | undefined {
    return this.#world.other()
  }

  /** Returns all texts as received, in parts. */
  receivedParts(): PromptPart[] {
    const parts = this.#cut()
    return this.texts.flatMap((_, place) => parts.received(place))
  }

  /** Returns the parts of each prompt as it is sent, and as it would be sent in the other world. */
  compare(): readonly { readonly sent: readonly PromptPart[]; readonly other: readonly PromptPart[] }[] {
    const parts = this.#cut()
    return this.prompts.map((places) => {
      const received = places.flatMap((place) => parts.received(place))
      const rewritten = this.areEqual
        ? received
        : places.flatMap((place) => parts.rewritten(place, this.#world.splices[place]!))
      return this.isShadow ? { sent: received, other: rewritten } : { sent: rewritten, other: received }
    })
  }

  release(): void {
    this.#world = released
    this.#parts = undefined
  }

  #cut(): PromptParts {
    this.#parts ??= new PromptParts(this.texts, this.#world.contexts)
    return this.#parts
  }
}
