import { WholeColumn } from '../columns/number-column.ts'
import type { MirroredRequest, MirroredRequests } from './mirrored-requests.ts'

/** The longest held prefix of a prompt. */
export interface HeldPrefix {
  /** characters */
  readonly length: number
  /** density of a counted request that holds it; undefined if none was counted */
  readonly tokensPerCharacter: number | undefined
  /** whether it ends within a text, where a request's cached tokens were converted to characters */
  readonly isPart: boolean
}

/** Maximum number of requests compared, so that a prediction takes no time however many hold a part of one text. */
const mostCompared = 64

/**
 * The requests that hold a part of a text but not all of it, by the node whose edge begins with that text. They form a
 * list per node, latest first. In all columns, 0 means none, otherwise a request's number + 1.
 */
export class HeldParts {
  /** by node: the request that was added last */
  readonly latest: WholeColumn = new WholeColumn()
  readonly #requests: MirroredRequests

  constructor(requests: MirroredRequests) {
    this.#requests = requests
  }

  add(node: number, request: MirroredRequest): void {
    const { earlierParts, laterParts } = this.#requests
    const before = this.latest.at(node)
    earlierParts.set(request, before)
    laterParts.set(request, 0)
    if (before > 0) laterParts.set(before - 1, request + 1)
    this.latest.set(node, request + 1)
  }

  /** Removes a request, which must have been added to this node. */
  delete(node: number, request: MirroredRequest): void {
    const { earlierParts, laterParts } = this.#requests
    const earlier = earlierParts.at(request)
    const later = laterParts.at(request)
    if (earlier > 0) laterParts.set(earlier - 1, later)
    if (later > 0) earlierParts.set(later - 1, earlier)
    else this.latest.set(node, earlier)
  }

  /** Returns the most that one of the latest requests of a node holds, in characters; 0 if there are none. */
  heldLengthAt(node: number): number {
    const longest = this.#longestAt(node)
    return longest < 0 ? 0 : this.#requests.heldLengths.at(longest)
  }

  /** Extends the held prefix before the text of a node by the longest part held of that text. */
  extend(whole: HeldPrefix, node: number): HeldPrefix {
    const { heldLengths, densities } = this.#requests
    const longest = this.#longestAt(node)
    if (longest < 0) return whole
    const tokensPerCharacter = whole.tokensPerCharacter ?? (densities.at(longest) || undefined)
    return { length: heldLengths.at(longest), tokensPerCharacter, isPart: true }
  }

  #longestAt(node: number): MirroredRequest | -1 {
    const { earlierParts, heldLengths } = this.#requests
    let longest = -1
    let at = this.latest.at(node) - 1
    for (let compared = 0; at >= 0 && compared < mostCompared; compared++) {
      if (longest < 0 || heldLengths.at(at) > heldLengths.at(longest)) longest = at
      at = earlierParts.at(at) - 1
    }
    return longest
  }
}
