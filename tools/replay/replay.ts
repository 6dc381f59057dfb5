import { TreeCache } from '#index/tree-cache/tree-cache.ts'
import { ConfigError } from '#proxy/common/errors.ts'
import { plotCapacities, plotReplay } from './chart/render-chart.ts'
import { policies } from './policies/policies.ts'
import { type GivenReplayOptions, type ReplayOptions, replayDefaults } from './replay-options.ts'
import { toReplayRequests } from './replay-request.ts'
import { createProgress } from './report/replay-progress.ts'
import { type ReplayReport, renderOrders, toPolicyReport } from './report/replay-report.ts'
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
  const { name: trace, requests: recorded, skipped, capacityTokens: recordedTokens } = await readTrace(path)
  if (skipped > 0) tell(`${skipped} requests are left out: the trace has no text for their blocks ("has_text": false)`)
  if (recorded.length === 0) throw new ConfigError(`${path} holds no request with text`)
  const requests = toReplayRequests(recorded.slice(0, given.limit))
  if (given.capacityTokens === undefined && recordedTokens !== undefined) {
    tell(`the cache has ${recordedTokens} tokens, as the recorded engine's: --capacity-tokens sets another size`)
  }
  const capacityTokens = given.capacityTokens ?? recordedTokens ?? replayDefaults.capacityTokens
  const options: ReplayOptions = { ...given, capacityTokens }
  const layout = new PromptLayout(requests, options)
  const lengths = requests.map((request) => layout.lengthOf(request))
  const cache = new TreeCache(capacityTokens, options.pageTokens)
  const large = lengths.filter((length) => !cache.holds(length)).length
  if (large > 0) tell(`${large} prompts are larger than the cache: only their fronts stay cached`)
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
  const bound = toPolicyReport({
    policy: 'bound',
    cachedTokens: countSeenBefore(requests, options),
    promptTokens: lengths.reduce((sum, length) => sum + length, 0),
  })
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

/** Plans a batch of contexts offline. Returns a line of JSON for each request, in execution order. */
export async function plan(path: string, tell: Tell): Promise<string[]> {
  const { requests, skipped } = await readTrace(path, { unknownSizes: true })
  if (skipped > 0) tell(`${skipped} requests are left out: they are marked "has_text": false`)
  return policies.reprise.offline(toReplayRequests(requests)).map(({ request, order, group, searchPath }) => {
    const rank = request.trace.blocks.map(({ id }) => id)
    const blocks = order.map((place) => rank[place]!)
    return `${JSON.stringify({ query_id: request.trace.queryId, blocks, rank, group, search_path: searchPath })}\n`
  })
}
