import type { SentPrompt } from '#index/cache-event.ts'
import type { BlockId } from '#index/context-block.ts'
import type { SentTurn, TurnKey } from '#index/conversation-store.ts'
import type { Span } from '../common/json/json-spans.ts'
import { type HeldSlot, type PromptContext, slotsByText } from '../prompt/body/prompt-context.ts'
import type { BodySplice } from '../prompt/body/splice-body.ts'
import type { TextSplice } from '../prompt/body/text-splice.ts'
import { findIndexFrom } from '../prompt/scan/find-edges.ts'

/** What the worlds of a request are made of. Its texts are kept until its prompts are compared. */
interface WorldParts extends Pick<TwoWorlds, 'isShadow' | 'areEqual' | 'planned' | 'turns'> {
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

const released = { texts: [], contexts: [], prompts: [], splices: [], other: () => undefined }

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
  #world: Omit<WorldParts, 'isShadow' | 'areEqual' | 'planned' | 'turns'>
  #parts: PromptParts | undefined

  constructor({ isShadow, areEqual, planned, turns, ...world }: WorldParts) {
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
    return join(this.texts.map((_, place) => parts.received(place)))
  }

  /** Returns the parts of each prompt as it is sent, and as it would be sent in the other world. */
  compare(): readonly { readonly sent: readonly PromptPart[]; readonly other: readonly PromptPart[] }[] {
    const parts = this.#cut()
    return this.prompts.map((places) => {
      const received = join(places.map((place) => parts.received(place)))
      const rewritten = this.areEqual
        ? received
        : join(places.map((place) => parts.rewritten(place, this.#world.splices[place]!)))
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

/** A part of a prompt: the content of a block, or what stands between blocks. */
export interface PromptPart {
  readonly text: string
  /** equal blocks have equal text; undefined if it is none */
  readonly block: BlockId | undefined
}

/** `flat` takes ten times as long. */
function join(texts: readonly (readonly PromptPart[])[]): PromptPart[] {
  return ([] as PromptPart[]).concat(...texts)
}

interface HeldBlock extends Span {
  readonly part: PromptPart
}

/** Takes texts apart into blocks, which are known by their identities without being read again, and the rest. */
export class PromptParts {
  readonly #texts: readonly string[]
  /** by text: its blocks in order */
  readonly #blocks: ReadonlyMap<number, readonly HeldBlock[]>
  readonly #received: (readonly PromptPart[])[] = []

  /** `contexts` were found in `texts`. */
  constructor(texts: readonly string[], contexts: readonly PromptContext[]) {
    this.#texts = texts
    this.#blocks = new Map([...slotsByText(contexts)].map(([place, slots]) => [place, toBlocks(texts[place]!, slots)]))
  }

  /** Returns the parts of a text as received. */
  received(place: number): readonly PromptPart[] {
    this.#received[place] ??= this.#cut([], place, 0, this.#texts[place]!.length)
    return this.#received[place]
  }

  /** Returns the parts of a text as `splices`, which are in order and do not overlap, make it. */
  rewritten(place: number, splices: readonly TextSplice[]): readonly PromptPart[] {
    if (splices.length === 0) return this.received(place)
    const parts: PromptPart[] = []
    let at = 0
    for (const { start, end, pieces } of splices) {
      this.#cut(parts, place, at, start)
      at = end
      for (const piece of pieces) {
        if (typeof piece === 'string') parts.push({ text: piece, block: undefined })
        else this.#cut(parts, piece.text, piece.start, piece.end)
      }
    }
    return this.#cut(parts, place, at, this.#texts[place]!.length)
  }

  /** Adds the parts of a stretch. */
  #cut(parts: PromptPart[], place: number, start: number, end: number): PromptPart[] {
    const text = this.#texts[place]!
    const blocks = this.#blocks.get(place) ?? []
    let at = start
    for (let i = findIndexFrom(blocks, start); i < blocks.length && blocks[i]!.end <= end; i++) {
      const { start: from, end: to, part } = blocks[i]!
      if (at < from) parts.push({ text: text.slice(at, from), block: undefined })
      parts.push(part)
      at = to
    }
    if (at < end) parts.push({ text: text.slice(at, end), block: undefined })
    return parts
  }
}

/** Returns the blocks among these slots in order, but for those whose label is part of their content and may change. */
function toBlocks(text: string, slots: readonly HeldSlot[]): HeldBlock[] {
  return slots
    .filter(({ slot: { content, label } }) => !label || label.end <= content.start || label.start >= content.end)
    .map(({ slot, content: block }): HeldBlock => {
      const { start, end } = slot.content
      return { start, end, part: { text: text.slice(start, end), block } }
    })
    .sort((a, b) => a.start - b.start)
}
