import type { Sent } from './traffic.ts'

/** How true predictions were. */
export interface Figures {
  readonly answered: number
  readonly promptTokens: number
  readonly cachedTokens: number
  /** predicted tokens are those that the engine reported */
  readonly exact: number
  /** more was predicted: it was believed to be held, and was not */
  readonly over: number
  /** less was predicted: more was held than was believed */
  readonly under: number
}

const shownMismatches = 25

/** What became of requests that were answered. */
export function figuresOf(sent: readonly Sent[]): Figures {
  const answers = sent.flatMap(({ answer }) => answer ?? [])
  const count = (is: (off: number) => boolean): number =>
    answers.filter(({ predicted, reported }) => is(predicted - reported)).length
  const sum = (name: 'promptTokens' | 'reported'): number => answers.reduce((total, answer) => total + answer[name], 0)
  return {
    answered: answers.length,
    promptTokens: sum('promptTokens'),
    cachedTokens: sum('reported'),
    exact: count((off) => off === 0),
    over: count((off) => off > 0),
    under: count((off) => off < 0),
  }
}

/** The figures in a line, and a line for each request whose prediction was another than the engine's report. */
export function reportOf(label: string, sent: readonly Sent[], blockSize: number): string {
  const { answered, promptTokens, cachedTokens, exact, over, under } = figuresOf(sent)
  const share = promptTokens === 0 ? 0 : Math.round((100 * cachedTokens) / promptTokens)
  const head =
    `${label}: ${answered} requests, ${promptTokens} tokens, ${share} % of them cached; ` +
    `${exact} predicted exactly, ${over} too high, ${under} too low`
  const mismatches = sent.flatMap((one) => {
    const { answer } = one
    return answer === undefined || answer.predicted === answer.reported ? [] : [describeMismatch(one, blockSize)]
  })
  const failures = sent.flatMap(({ requestId, failure }) =>
    failure === undefined ? [] : [`${requestId} failed: ${failure}`],
  )
  const hidden = mismatches.length - shownMismatches
  const rest = hidden > 0 ? [`… and ${hidden} more`] : []
  return [head, ...failures, ...mismatches.slice(0, shownMismatches), ...rest].join('\n  ')
}

function describeMismatch({ requestId, turn, beside, answer }: Sent, blockSize: number): string {
  const { predicted, reported, promptTokens, blocks, moved } = answer!
  const off = predicted - reported
  const inBlocks = Number.isInteger(off / blockSize) ? `${signed(off / blockSize)} blocks` : 'no whole blocks'
  return (
    `${requestId} (${turn.id}): predicted ${predicted}, reported ${reported}: ${signed(off)} tokens, ${inBlocks}; ` +
    `${promptTokens} in the prompt, ${blocks} documents, ${moved} moved; beside ${beside.join(', ') || 'none'}`
  )
}

function signed(value: number): string {
  return value > 0 ? `+${value}` : String(value)
}
