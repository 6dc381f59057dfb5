import { replayDefaults as defaults, type ReplaySettings } from '#tools/replay/replay-options.ts'
import { type ReplayRequest, toReplayRequests } from '#tools/replay/replay-request.ts'
import { toRatio } from '#tools/replay/report/replay-report.ts'
import { countSeenBefore, PromptLayout } from '#tools/replay/run/prompt-layout.ts'
import { replayTrace } from '#tools/replay/run/replay-trace.ts'
import { readTrace } from '#tools/replay/trace/read-trace.ts'
import { type Percentiles, toPercentiles } from '../../e2e/bench/percentiles.ts'
import { type ComparedName, createPolicy } from './rivals/rival-policies.ts'

/** A trace that policies are compared on. */
export interface BenchTrace {
  readonly name: string
  readonly requests: readonly ReplayRequest[]
}

/** The hit ratio of a policy on a trace, and the time it took. */
export interface PolicyFigures extends Percentiles {
  readonly hitRatio: number
  readonly planSeconds: number
}

type Settings = Pick<ReplaySettings, 'mode'> & Partial<ReplaySettings>

/** Reads a trace, or of each request only the first `most` blocks. */
export async function readBenchTrace(folder: string, most: number = Number.POSITIVE_INFINITY): Promise<BenchTrace> {
  const { name, requests } = await readTrace(folder)
  const cut = requests.map((request) => ({ ...request, blocks: request.blocks.slice(0, most) }))
  return { name, requests: toReplayRequests(cut) }
}

/** Runs a trace eight times and times the last five; a trace is short, so the first runs warm up the compiler. */
export function runPolicy(trace: BenchTrace, policy: ComparedName, settings: Settings): PolicyFigures {
  const runs = Array.from({ length: 8 }, () =>
    replayTrace(trace.requests, createPolicy(policy), { ...defaults, ...settings }),
  )
  const timed = runs.slice(-5).map(({ microseconds }) => microseconds)
  // offline, the planning time is divided equally among the requests, so the sum is the time to plan
  const plans = timed.map((microseconds) => microseconds.reduce((sum, share) => sum + share, 0) / 1e6)
  return {
    hitRatio: toRatio(runs[0]!.cachedTokens, runs[0]!.promptTokens),
    ...toPercentiles(timed.flat()),
    planSeconds: toPercentiles(plans).p50,
  }
}

export function hitRatioOf({ requests }: BenchTrace, policy: ComparedName, settings: Settings): number {
  const { cachedTokens, promptTokens } = replayTrace(requests, createPolicy(policy), { ...defaults, ...settings })
  return toRatio(cachedTokens, promptTokens)
}

/** Returns the share of the prompt tokens that were seen before, at any position. */
export function boundOf({ requests }: BenchTrace): number {
  const layout = new PromptLayout(requests, defaults)
  const promptTokens = requests.reduce((sum, request) => sum + layout.lengthOf(request), 0)
  return toRatio(countSeenBefore(requests, defaults), promptTokens)
}

/** Returns the geometric mean, over the traces, of one policy's figures divided by another's. */
export function meanRatio(ratios: readonly number[], to: readonly number[]): number {
  return Math.exp(ratios.reduce((sum, ratio, at) => sum + Math.log(ratio / to[at]!), 0) / ratios.length)
}
