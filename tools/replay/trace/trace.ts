import { get_encoding, type Tiktoken } from 'tiktoken'
import type { BlockId } from '#index/context-block.ts'

export interface TraceRequest {
  /** as written in the trace, or derived from other fields */
  readonly queryId: string | number
  readonly query: string | undefined
  readonly conversation: string | undefined
  /** correct answers; undefined if the trace has none */
  readonly answers?: readonly string[] | undefined
  /** Requests of different tenants share nothing. */
  readonly tenant: string
  /** Best first; a block may occur twice. */
  readonly blocks: readonly TraceBlock[]
  /** Pieces before and after the blocks; undefined: as set by the replay's options. */
  readonly around?: { readonly front: readonly TraceBlock[]; readonly rest: readonly TraceBlock[] } | undefined
  /** How the blocks are marked in the prompt; undefined: they are all there is between the pieces around them. */
  readonly list?: TraceList | undefined
  /** the path of the API it was sent to, such as `/v1/chat/completions`; undefined if the trace does not say */
  readonly route?: string | undefined
  /** false: the request asked for its blocks to be left in their order; undefined if the trace does not say */
  readonly reorder?: boolean | undefined
  /** exactly what the client sent, before anything was rewritten; undefined if the trace does not have it */
  readonly request?: SentRequest | undefined
}

/** A list of blocks and its marks, in pieces. */
export interface TraceList {
  /** by block: its pieces, in order; undefined: the label of its place goes here */
  readonly blocks: readonly (readonly (TraceBlock | undefined)[])[]
  /** by place, since they stay there; empty if each block has its own or none */
  readonly labels: readonly TraceBlock[]
  /** for each place except the last: what is between it and the next one */
  readonly gaps: readonly (readonly TraceBlock[])[]
  /** by block: its pieces if it is sent with pointers to what it repeats, when its list is in another order */
  readonly shortened: readonly (TraceList['blocks'][number] | undefined)[]
  /** the prompt refers to the places of its blocks, so they were not moved */
  readonly stays: boolean
  /** tokens of the order annotation */
  readonly orderTokens: number
}

/** A request as a client sent it. */
export interface SentRequest {
  readonly path: string
  readonly body: object
}

/** A trace, with its requests in order of arrival. */
export interface Trace {
  readonly name: string
  readonly requests: readonly TraceRequest[]
  /** lines left out because the trace holds no text for their blocks */
  readonly skipped: number
  /** how many tokens the engine's cache held when the trace was recorded; undefined if the trace does not say */
  readonly capacityTokens?: number | undefined
}

/** The tenant of requests without one. */
export const defaultTenant = 'default'

// takes 0.15 s to build, so it is built when the first text is counted
let encoding: Tiktoken | undefined

/** A part of a block's text. Those of equal keys are equal, in whichever block they are. */
interface Stretch {
  readonly key: string
  readonly characters: number
}

export class TraceBlock {
  readonly id: string | number
  /** The string "1" and the number 1 are different blocks. */
  readonly key: BlockId
  readonly text: string | undefined
  /** its parts, in order; undefined: it is a single part */
  readonly stretches: readonly Stretch[] | undefined
  /** as JavaScript counts them; undefined: not known */
  readonly characters: number | undefined
  #tokens: number | undefined

  constructor(
    id: string | number,
    content: {
      readonly text?: string | undefined
      /** undefined: count them in the text */
      readonly tokens?: number | undefined
      readonly characters?: number | undefined
      readonly stretches?: readonly Stretch[] | undefined
    },
  ) {
    this.id = id
    this.key = keyOf(id)
    this.text = content.text
    this.stretches = content.stretches
    this.characters = content.text?.length ?? content.characters
    this.#tokens = content.tokens
  }

  /** Number of tokens. Those of a text (o200k_base, names of special tokens as ordinary text) are counted on first use. */
  get tokens(): number {
    if (this.#tokens === undefined) {
      encoding ??= get_encoding('o200k_base')
      this.#tokens = encoding.encode_ordinary(this.text!).length
    }
    return this.#tokens
  }
}

/** Returns the identity of a block in the index. */
export function keyOf(id: string | number): BlockId {
  return JSON.stringify(id) as BlockId
}
