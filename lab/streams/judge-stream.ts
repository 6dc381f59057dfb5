import { toBlockId } from '#index/context-block.ts'
import { TrafficEvidence, type TrafficFigures, type TrafficVerdict } from '#proxy/templates/traffic/traffic-evidence.ts'
import type { ListRequest } from './stream.ts'

export interface JudgedStream {
  readonly requests: number
  /** Requests after which it was a set by flips alone, and by all evidence. */
  readonly byFlips: number
  readonly asSet: number
  /** Number of the request with which it became a set, from 1; undefined if never. */
  readonly setAt: number | undefined
  readonly verdict: TrafficVerdict
  readonly figures: TrafficFigures
}

/** What flips alone would allow: the premise that the words have to check. */
function isSetByFlips({ flippedPairs, flippingLists, movers, shareOfFlips, shareOfReturns }: TrafficFigures): boolean {
  return flippedPairs >= 6 && flippingLists >= 3 && movers >= 3 && shareOfFlips >= 0.12 && shareOfReturns >= 0.1
}

export function judgeStream(stream: Iterable<ListRequest>): JudgedStream {
  const evidence = new TrafficEvidence()
  let [requests, byFlips, asSet] = [0, 0, 0]
  let setAt: number | undefined
  for (const { items, question } of stream) {
    evidence.note({ contents: items.map(toBlockId), text: (place) => items[place]!, question })
    requests++
    if (isSetByFlips(evidence.figures)) byFlips++
    if (evidence.verdict === 'set') {
      asSet++
      setAt ??= requests
    }
  }
  return { requests, byFlips, asSet, setAt, verdict: evidence.verdict, figures: evidence.figures }
}
