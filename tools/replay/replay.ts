import { TreeCache } from '#index/tree-cache/tree-cache.ts'
import { ConfigError } from '#proxy/common/errors.ts'
import { plotCapacities, plotReplay } from './chart/render-chart.ts'
import { type GivenReplayOptions, type ReplayOptions, replayDefaults } from './replay-options.ts'
import { type ReplayRequest, toReplayRequests } from './replay-request.ts'
import { createProgress } from './report/replay-progress.ts'
import { type ReplayReport, renderOrders, toBoundReport, toPolicyReport } from './report/replay-report.ts'
import { checkOutputs, writeFileAtOnce } from './report/write-file-at-once.ts'
import { countSeenBefore, PromptLayout } from './run/prompt-layout.ts'
import { replayTrace } from './run/replay-trace.ts'
import { readTrace } from './trace/read-trace.ts'

/** Receives notes that are not part of the report. */
type Tell = (note: string) => void

/** Replays a trace under every requested policy and writes the requested files. */
export async function replay(path: string, given: GivenReplayOptions, tell: Tell): Promise<ReplayReport> {
  checkOutputs(
    [given.orders, given.plot].filter((file) => file !== undefined),
    path,
  )
  const { name: trace, requests, recordedTokens } = await readRequests(path, given, tell)
  if (given.capacityTokens === undefined && recordedTokens !== undefined) {
    tell(`the cache has ${recordedTokens} tokens, as the recorded engine's: --capacity-tokens sets another size`)
  }
  const capacityTokens = given.capacityTokens ?? recordedTokens ?? replayDefaults.capacityTokens
  const options: ReplayOptions = { ...given, capacityTokens }
  const lengths = lengthsOf(requests, options)
  tellOfLargePrompts(lengths, options, tell)
  const names = options.policy.filter((name) => name !== 'bound')
  const curves = options.plot === undefined ? 0 : plotCapacities.length
  const progress = createProgress(names.length * (1 + curves) * requests.length)
  const orders: string[] = []
  const reports = new Map(
    names.map((name) => {
      progress.begin(name)
      const run = replayTrace(requests, name, options, progress.advance)
      if (options.orders !== undefined) orders.push([...renderOrders(run)].join(''))
      return [name as string, toPolicyReport(run)] as const
    }),
  )
  const promptTokens = lengths.reduce((sum, length) => sum + length, 0)
  const bound = toBoundReport(countSeenBefore(requests, options), promptTokens)
  if (options.orders !== undefined) writeFileAtOnce(options.orders, orders)
  if (options.plot !== undefined) {
    const plot = plotReplay({ trace, requests, names, bound: bound.hit_ratio, options, progress })
    writeFileAtOnce(options.plot, [plot])
  }
  progress.stop()
  return {
    trace,
    requests: requests.length,
    mode: options.mode,
    capacity_tokens: Number.isFinite(options.capacityTokens) ? options.capacityTokens : null,
    bound: bound.hit_ratio,
    policies: options.policy.map((name) => reports.get(name) ?? bound),
  }
}

async function readRequests(
  path: string,
  { limit }: GivenReplayOptions,
  tell: Tell,
): Promise<{ name: string; requests: ReplayRequest[]; recordedTokens: number | undefined }> {
  const { name, requests, skipped, capacityTokens: recordedTokens } = await readTrace(path)
  if (skipped > 0) tell(`${skipped} requests are left out: the trace has no text for their blocks ("has_text": false)`)
  if (requests.length === 0) throw new ConfigError(`${path} holds no request with text`)
  return { name, requests: toReplayRequests(requests.slice(0, limit)), recordedTokens }
}

/** Lengths of the prompts as received, in tokens. */
function lengthsOf(requests: readonly ReplayRequest[], options: ReplayOptions): number[] {
  const layout = new PromptLayout(requests, options)
  return requests.map((request) => layout.lengthOf(request))
}

function tellOfLargePrompts(lengths: readonly number[], options: ReplayOptions, tell: Tell): void {
  const cache = new TreeCache(options.capacityTokens, options.pageTokens)
  const large = lengths.filter((length) => !cache.holds(length)).length
  if (large > 0) tell(`${large} prompts are larger than the cache: only their fronts stay cached`)
}
