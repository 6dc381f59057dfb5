import type { Sent } from './traffic.ts'

/** How accurate the predictions were. */
export interface Figures {
  readonly answered: number
  readonly promptTokens: number
  readonly cachedTokens: number
  /** answers whose predicted tokens equal the engine's report */
  readonly exact: number
  /** answers with more predicted than reported: some tokens believed cached were not */
  readonly over: number
  /** answers with less predicted than reported: more was cached than believed */
  readonly under: number
}

const shownMismatches = 25

/** Computes the figures of the answered requests. */
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

/** Returns a line with the figures, and a line for each request whose prediction differs from the engine's report. */
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
