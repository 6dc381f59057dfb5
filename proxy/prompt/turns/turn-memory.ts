import {
  haveSameBlocks,
  type KnownTurns,
  type SentOrder,
  type SentTurn,
  type TurnKey,
  toVariantKey,
} from '#index/conversation-store.ts'
import type { RequestOptions } from '../../common/request-options.ts'

/** Explicit blocks of a past message, and how they were sent, if that is to be repeated. */
interface RestoredBlocks {
  readonly blocks: readonly string[]
  readonly context: SentOrder | undefined
}

/**
 * The turns of a store as seen by a request with options. A repeated turn is sent as before under the same options;
 * otherwise it is decided again. A past turn is sent as before, preferably as under the same options. A request with
 * unusual options does not change turns that were sent with the usual ones.
 */
export class TurnMemory {
  readonly #store: KnownTurns
  /** the options that differ from the usual ones; '' if none */
  readonly #variant: string

  constructor(store: KnownTurns, { reorder, dedup, overlaps, annotate }: RequestOptions) {
    this.#store = store
    const off = Object.entries({ reorder, dedup, annotate }).filter(([, isOn]) => isOn === false)
    this.#variant = [...off.map(([name]) => name), ...(overlaps ? ['overlaps'] : [])].join()
  }

  /** Returns how a message was sent, by the first of its names that is known. */
  recallTurn(names: readonly TurnKey[], isPast: boolean): SentTurn | undefined {
    for (const name of names) {
      const sent = this.#recallOwn(name) ?? (isPast ? this.#recallAny(name) : undefined)
      if (sent) return sent
    }
    return undefined
  }

  /** Returns the keys under which to remember a message without explicit blocks. */
  keysOfOrdered(names: readonly TurnKey[]): TurnKey[] {
    return this.#variant === '' ? [...names] : names.flatMap((name) => [this.#own(name), inAnyWay(name)])
  }

  /** Returns how the explicit blocks of a message were sent. `name` covers the blocks, too. */
  recallPlaced(name: TurnKey): readonly SentOrder[] {
    const sent = this.#recallOwn(name)
    return sent?.kind === 'explicit' ? [sent.context] : []
  }

  /** Returns the explicit blocks of a message. */
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

  /**
   * Returns the keys under which to remember a message with explicit blocks. `withBlocks` is its name together with the
   * blocks.
   */
  keysOfExplicit(names: readonly TurnKey[], blocks: readonly string[], withBlocks?: TurnKey): TurnKey[] {
    const own = withBlocks === undefined ? names : [withBlocks, ...names]
    if (this.#variant === '') return [...own]
    // the plain names must always lead to the blocks; if they do already, the order sent there must stay
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

/** Returns the key for a turn that was only ever sent with something switched off. */
function inAnyWay(name: TurnKey): TurnKey {
  return toVariantKey(name, 'any')
}

/** Returns the turns as if each had been sent as received. */
export function withTurnsAsReceived(turns: KnownTurns): KnownTurns {
  return {
    recall: (turn) => {
      const sent = turns.recall(turn)
      if (sent?.kind === 'ordered') return { ...sent, contexts: sent.contexts.map(({ order }) => asReceived(order)) }
      return sent?.kind === 'explicit' ? { ...sent, context: asReceived(sent.context.order) } : sent
    },
  }
}

/** Returns how these blocks are sent as received. */
export function asReceived(blocks: readonly unknown[]): SentOrder {
  return { order: [...blocks.keys()], annotation: undefined, pointers: [] }
}
