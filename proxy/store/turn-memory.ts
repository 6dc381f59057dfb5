import {
  type ConversationStore,
  haveSameBlocks,
  type SentOrder,
  type SentTurn,
  type TurnKey,
  toVariantKey,
} from '#index/conversation-store.ts'
import type { RequestOptions } from '../request/call/request-options.ts'

/** Blocks that were given beside a past message, and how they were sent, if that is to be repeated. */
export interface RestoredBlocks {
  readonly blocks: readonly string[]
  readonly context: SentOrder | undefined
}

/**
 * The turns of a store as a request with options sees them. A turn that is asked again goes as it went under the same
 * options, else it is decided anew; a turn of the past goes as it went, under the same options if it did. What a
 * request with something switched off leaves behind changes no turn that was sent without.
 */
export class TurnMemory {
  readonly #store: ConversationStore
  /** what is switched off; '' for nothing */
  readonly #variant: string

  constructor(store: ConversationStore, { reorder, dedup, annotate }: RequestOptions) {
    this.#store = store
    this.#variant = Object.entries({ reorder, dedup, annotate })
      .filter(([, isOn]) => isOn === false)
      .map(([name]) => name)
      .join()
  }

  /** How the contexts of a message were sent, by any of its names; the first that is known counts. */
  recallOrdered(names: readonly TurnKey[], isPast: boolean): readonly SentOrder[] {
    const sent = this.recallTurn(names, isPast)
    return sent?.kind === 'ordered' ? sent.contexts : []
  }

  /** How a message was sent, by any of its names; the first that is known counts. */
  recallTurn(names: readonly TurnKey[], isPast: boolean): SentTurn | undefined {
    for (const name of names) {
      const sent = this.#recallOwn(name) ?? (isPast ? this.#recallAny(name) : undefined)
      if (sent) return sent
    }
    return undefined
  }

  /** Under what a message is to be remembered that had no blocks beside it. */
  keysOfOrdered(names: readonly TurnKey[]): TurnKey[] {
    return this.#variant === '' ? [...names] : names.flatMap((name) => [this.#own(name), inAnyWay(name)])
  }

  /** How the blocks beside a message were sent; `name` names them too. */
  recallPlaced(name: TurnKey): readonly SentOrder[] {
    const sent = this.#recallOwn(name)
    return sent?.kind === 'explicit' ? [sent.context] : []
  }

  /** The blocks that a message had beside it. */
  recallExplicit(names: readonly TurnKey[], isPast: boolean): RestoredBlocks | 'ambiguous' | undefined {
    for (const name of names) {
      const sent = this.#store.recall(name)
      if (!sent) continue
      if (sent.kind !== 'explicit') return sent.kind === 'ambiguous' ? 'ambiguous' : undefined
      const own = this.#recallOwn(name)
      if (own?.kind === 'explicit' && haveSameBlocks(own.blocks, sent.blocks)) return own
      return isPast ? sent : { blocks: sent.blocks, context: undefined }
    }
    return undefined
  }

  /** Under what a message is to be remembered that had blocks beside it; `withBlocks` names it together with them. */
  keysOfExplicit(names: readonly TurnKey[], blocks: readonly string[], withBlocks?: TurnKey): TurnKey[] {
    const own = withBlocks === undefined ? names : [withBlocks, ...names]
    if (this.#variant === '') return [...own]
    // whose blocks these were has to be known in any case; how they were sent is known already, if they are
    const unknown = names.filter((name) => {
      const sent = this.#store.recall(name)
      return sent?.kind !== 'explicit' || !haveSameBlocks(sent.blocks, blocks)
    })
    return [...own.map((name) => this.#own(name)), ...unknown]
  }

  #own(name: TurnKey): TurnKey {
    return this.#variant === '' ? name : toVariantKey(name, this.#variant)
  }

  #recallOwn(name: TurnKey): SentTurn | undefined {
    return this.#store.recall(this.#own(name))
  }

  #recallAny(name: TurnKey): SentTurn | undefined {
    return this.#store.recall(name) ?? this.#store.recall(inAnyWay(name))
  }
}

/** Where a turn is found that was only ever sent with something switched off. */
function inAnyWay(name: TurnKey): TurnKey {
  return toVariantKey(name, 'any')
}
